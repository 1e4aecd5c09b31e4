// Keeps the page at the newest state: by a stream of events, or by asking when no stream is to be had.
"use strict";

const POLL_MS = 2000;
const STREAM_AGAIN_MS = 30000;
const SILENT_MS = 15000; // the table says something every 5 seconds

const root = document.documentElement;
const panel = document.getElementById("panel");
let stream = null;
let poll = null;
let watchdog = null;

function show(news) {
  root.dataset.live = news.id;
  root.dataset.phase = news.phase;
  root.dataset.events = news.events;
  root.dataset.flags = news.flags;
  for (const [name, html] of Object.entries(news.parts)) {
    const element = document.getElementById(name); // a big screen has not every part
    if (element) replace(element, html);
  }
  refresh();
}

// A new picture is fetched before the old one leaves, so that nothing flashes.
function replace(element, html) {
  const next = document.createElement("template");
  next.innerHTML = html;
  const picture = next.content.querySelector("image");
  const version = (element.dataset.version = String(Number(element.dataset.version || 0) + 1));
  const swap = () => {
    if (element.dataset.version !== version) return;
    const focused = element.contains(document.activeElement) && document.activeElement.id;
    element.replaceChildren(next.content);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };
  if (!picture) return swap();
  const image = new Image();
  image.onload = image.onerror = swap;
  image.src = picture.getAttribute("href");
}

function refresh() {
  const status = document.querySelector("#status .now");
  document.title = status ? `${status.textContent.trim()} · Tilekeeper` : "Tilekeeper";
  if (!panel) return;
  panel.elements.seen.value = root.dataset.events;
  const { phase } = root.dataset;
  for (const button of buttons()) {
    button.disabled = !(phase === "turn" || (phase === "ended" && button.classList.contains("undo")));
  }
}

// Also those of a question, which stand elsewhere on the page.
function buttons() {
  return [...panel.elements].filter((element) => element.tagName === "BUTTON");
}

function follow() {
  clearTimeout(poll);
  if (stream) stream.close();
  alive();
  stream = new EventSource(`/live/stream?since=${encodeURIComponent(root.dataset.live)}`);
  stream.onopen = () => {
    alive();
    root.classList.remove("offline");
  };
  stream.onmessage = (event) => {
    alive();
    show(JSON.parse(event.data));
  };
  stream.addEventListener("beat", alive);
  stream.onerror = () => {
    root.classList.add("offline");
    if (stream.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    clearTimeout(watchdog);
    ask(Date.now() + STREAM_AGAIN_MS);
  };
}

// A stream can be dead without an error (a phone that changed Wi-Fi): silence is one.
function alive() {
  clearTimeout(watchdog);
  watchdog = setTimeout(follow, SILENT_MS);
}

async function ask(until) {
  try {
    const answer = await fetch(`/live/state?since=${encodeURIComponent(root.dataset.live)}`);
    if (answer.status === 200) show(await answer.json());
    root.classList.toggle("offline", !answer.ok);
  } catch {
    root.classList.add("offline");
  }
  if (Date.now() < until) poll = setTimeout(ask, POLL_MS, until);
  else follow();
}

async function press(event) {
  event.preventDefault();
  const output = panel.querySelector("output");
  output.textContent = "";
  const sent = send(panel, event.submitter);
  for (const other of buttons()) other.disabled = true;
  output.textContent = (await sent).why;
  refresh();
}

// Sends a form as the browser would; `why` says what was wrong, `seen` the moment that the table has come to.
async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  try {
    const answer = await fetch(submitter?.getAttribute("formaction") || form.action, { method: "POST", body });
    if (answer.status === 205) location.assign("/");
    return { ok: answer.ok, why: answer.ok ? "" : (await answer.text()).trim(), seen: answer.headers.get("X-Seen") };
  } catch {
    return { ok: false, why: root.dataset.lost, seen: null };
  }
}

// Screens stay awake where the browser allows it: over https, or on the machine itself.
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    root.dataset.awake = "refused";
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  stayAwake();
  follow(); // a phone that slept may hold a stream that is dead without knowing it
});
if (panel) panel.addEventListener("submit", press);
refresh();
follow();
stayAwake();
