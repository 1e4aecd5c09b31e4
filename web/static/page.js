// Shows the newest state, from a stream of events or by polling.
"use strict";

const POLL_MS = 2000;
const STREAM_AGAIN_MS = 30000;
const SILENT_MS = 15000; // the table sends a beat every 5 seconds
const LOW_S = 60; // a clock with less is marked
const NOTICE_GAP_PX = 8; // below each part of #talk

const root = document.documentElement;
const newsPath = root.dataset.stream || "/live";
const panel = document.getElementById("panel");
let stream = null;
let pollTimer = null;
let watchdog = null;
let newestConnection = 0; // answers on earlier ones have no effect
let hasLostTurns = false; // this page has shown later turns than the table has
let pressed = null; // the button that was pressed on this phone, until the table has answered
let restTimer = null; // after an answer the buttons are disabled, so that a double tap is one press
let refusalBefore = ""; // the one at the last turn
let serverAhead = Number(root.dataset.now) - performance.now() / 1000;
let isNewConnection = false;

function show(news) {
  const isRestarted = news.id.split("-")[0] !== root.dataset.live.split("-")[0]; // else a start was undone
  if (isRestarted && isBefore(news.seen, root.dataset.seen)) hasLostTurns = true;
  else if (isRestarted && !document.querySelector("dialog[open]")) return location.reload(); // perhaps another camera
  if (panel && news.seen !== root.dataset.seen) clearOldRefusal(panel.querySelector("output"));
  root.dataset.live = news.id;
  root.dataset.phase = news.phase;
  root.dataset.seen = news.seen;
  root.dataset.question = news.question;
  root.dataset.events = news.events;
  root.dataset.flags = news.flags;
  setTime(news.now);
  if (pressed && news.phase !== "looking") {
    rest(pressed);
    if (pressed.matches(".end-turn") && hasFlag("no-camera")) open("/dialogs/entry");
    pressed = null;
  }
  for (const [name, html] of Object.entries(news.parts)) {
    const element = document.getElementById(name); // a big screen lacks some parts
    if (element) replace(element, html);
  }
  const colours = document.getElementById("colours");
  if (colours.getAttribute("href") !== news.colours) colours.href = news.colours;
  if (talk && hasLostTurns) hideDismissed();
  refresh();
  document.dispatchEvent(new CustomEvent("news", { detail: news }));
}

// A refusal stays for one turn: the game may have moved on just before.
function clearOldRefusal(output) {
  if (output.textContent === refusalBefore) output.textContent = "";
  refusalBefore = output.textContent;
}

// Replaces a part when its new picture is loaded, so that nothing flashes.
function replace(element, html) {
  const next = document.createElement("template");
  next.innerHTML = html;
  const picture = next.content.querySelector("image");
  const version = (element.dataset.version = String(Number(element.dataset.version || 0) + 1));
  const swap = () => {
    if (element.dataset.version !== version) return;
    const focused = element.contains(document.activeElement) && document.activeElement;
    updateParts(element, next.content);
    if (element === talk) hideDismissed();
    else refocus(focused); // in a question, the same button may mean something else
    tick();
  };
  if (!picture) return swap();
  const image = new Image();
  image.onload = image.onerror = swap;
  image.src = picture.getAttribute("href");
}

// Parts that have not changed stay: they keep the focus, and screen readers do not repeat them.
function updateParts(element, content) {
  for (const part of content.querySelectorAll("details[id]")) part.open = document.getElementById(part.id)?.open ?? part.open;
  const before = [...element.children];
  const parts = [...content.children].map((part) => before.find((one) => one.isEqualNode(part)) ?? part);
  for (const one of before) if (!parts.includes(one)) one.remove();
  parts.forEach((part, i) => part === element.children[i] || element.insertBefore(part, element.children[i]));
}

// Gives the focus back to an element, or to the one in its place.
function refocus(old) {
  if (!old || document.activeElement !== document.body) return;
  const others = [...document.querySelectorAll(old.localName)];
  (document.getElementById(old.id) ?? others.find((one) => one.isEqualNode(old)))?.focus({ preventScroll: true });
}

// Compares two moments ("12-34": numbers of the game and of its events). "0-0": no game yet.
function isBefore(seen, shown) {
  if (!seen || !shown) return false;
  const [game, events] = seen.split("-").map(Number);
  const [shownGame, shownEvents] = shown.split("-").map(Number);
  return game === shownGame ? events < shownEvents : game > 0 && game < shownGame;
}

// The table has lost turns, for example with an older copy of its files; only a page that showed them can know.
function showLostTurns() {
  const notice = document.getElementById("lost-turns");
  if (!hasLostTurns || !notice || talk.querySelector(".lost-turns")) return;
  const notices = talk.querySelector(".notices") ?? talk.appendChild(document.createElement("div"));
  notices.className = "notices";
  notices.append(notice.content.cloneNode(true));
}

// A notice that was dismissed on this phone is hidden until the table removes it.
const dismissed = new Set();
const talk = document.getElementById("talk");

function hideDismissed() {
  showLostTurns();
  const notices = [...talk.querySelectorAll(".dismiss")].map((button) => button.parentElement);
  const texts = notices.map((notice) => notice.firstChild.textContent);
  for (const text of dismissed) if (!texts.includes(text)) dismissed.delete(text);
  notices.forEach((notice, i) => {
    notice.hidden = dismissed.has(texts[i]);
    notice.querySelector(".dismiss").hidden = false;
  });
  makeRoom();
}

// Leaves space at the end of the page, so that #talk covers nothing.
function makeRoom() {
  const height = [...talk.children].reduce((sum, part) => sum + part.offsetHeight + NOTICE_GAP_PX, 0);
  root.style.setProperty("--talk", `${Math.min(height, talk.clientHeight)}px`);
}

talk?.addEventListener("click", (event) => {
  const notice = event.target.closest(".dismiss")?.parentElement;
  if (!notice) return;
  dismissed.add(notice.firstChild.textContent);
  hideDismissed();
  document.getElementById("last").focus({ preventScroll: true }); // its button had the focus
});

// A link to the rules unfolds them.
document.addEventListener("click", (event) => {
  const rules = event.target.closest(".to-rules") && document.querySelector("#rules details");
  if (rules) rules.open = true;
});

function foldOnPhones() {
  const isPhone = matchMedia("(max-width: 699px)").matches;
  for (const part of document.querySelectorAll("details.fold")) part.open = !isPhone;
}

function refresh() {
  const status = document.querySelector("#status .now");
  document.title = status ? `${status.textContent.trim()} · Tilekeeper` : "Tilekeeper";
  if (!panel) return;
  panel.elements.seen.value = root.dataset.seen;
  panel.elements.question_id.value = root.dataset.question;
  for (const button of buttons()) button.disabled = !isOffered(button);
}

function rest(button) {
  clearTimeout(restTimer);
  restTimer = setTimeout(() => {
    restTimer = null;
    refresh();
    refocus(button); // a disabled button loses the focus
  }, DOUBLE_TAP_MS);
}

function isOffered(button) {
  const { phase } = root.dataset;
  if (phase === "looking" || restTimer !== null) return false;
  if (button.classList.contains("undo")) return hasFlag("undo");
  if (button.classList.contains("go-on")) return phase === "paused";
  return hasFlag("in-play");
}

// Also those of a question, which is elsewhere on the page.
function buttons() {
  return [...panel.elements].filter((element) => element.tagName === "BUTTON");
}

// The clocks of players refer to the clock of the server, which begins again after a restart.
function setTime(now) {
  const ahead = Number(now) - performance.now() / 1000;
  if (isNewConnection || ahead > serverAhead) serverAhead = ahead; // news may be late
  isNewConnection = false;
}

function tick() {
  const now = performance.now() / 1000 + serverAhead;
  for (const clock of document.querySelectorAll(".clock[data-left]")) {
    const runs = clock.classList.contains("runs");
    const left = Number(clock.dataset.left) - (runs ? Math.max(0, now - Number(clock.dataset.at)) : 0);
    const whole = Math.trunc(Math.abs(left));
    const text = `${left < 0 ? "−" : ""}${Math.trunc(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    if (clock.textContent !== text) clock.textContent = text;
    clock.classList.toggle("low", runs && left < LOW_S);
    clock.classList.toggle("over", left < 0);
  }
}

// Marks a page without connection: nobody should trust an old score.
function setOffline(isOffline) {
  if (isOffline && !root.classList.contains("offline")) {
    const time = new Date().toLocaleTimeString(root.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const { dataset } = document.querySelector("#status .now");
    dataset.offline = dataset.offlineSince.replace("{time}", time);
  }
  const output = panel?.querySelector("output");
  if (!isOffline && output?.textContent === root.dataset.lost) output.textContent = "";
  root.classList.toggle("offline", isOffline);
}

// Begins a new connection instead of an earlier one.
function follow() {
  const connection = ++newestConnection;
  isNewConnection = true;
  clearTimeout(pollTimer);
  stream?.close();
  restartWatchdog();
  // A browser has six connections to a host: a hidden page keeps none.
  if (document.hidden && !document.querySelector("#alerts :checked")) return pollNews(Infinity, connection);
  stream = new EventSource(`${newsPath}/stream?since=${root.dataset.live}`);
  stream.onopen = () => {
    isNewConnection = true;
    restartWatchdog();
    setOffline(false);
  };
  stream.onmessage = (event) => {
    restartWatchdog();
    show(JSON.parse(event.data));
  };
  stream.addEventListener("beat", (event) => {
    restartWatchdog();
    setTime(event.data);
  });
  stream.onerror = () => {
    if (connection !== newestConnection) return;
    setOffline(true);
    if (stream.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    clearTimeout(watchdog);
    pollNews(Date.now() + STREAM_AGAIN_MS, connection);
  };
}

// A stream can be dead without an error (a phone that changed Wi-Fi): silence begins a new one.
function restartWatchdog() {
  clearTimeout(watchdog);
  watchdog = setTimeout(follow, SILENT_MS);
}

async function pollNews(until, connection) {
  try {
    const answer = await fetch(`${newsPath}/state?since=${root.dataset.live}`);
    const news = answer.status === 200 ? await answer.json() : null;
    if (connection !== newestConnection) return;
    if (news) show(news);
    setOffline(!answer.ok);
  } catch {
    if (connection !== newestConnection) return;
    setOffline(true);
  }
  if (Date.now() < until) pollTimer = setTimeout(pollNews, POLL_MS, until, connection);
  else follow();
}

function hasFlag(name) {
  return root.dataset.flags.split(" ").includes(name);
}

async function press(event) {
  event.preventDefault();
  if (event.submitter.matches(".end-turn") && hasFlag("no-camera")) return open("/dialogs/entry");
  pressed = event.submitter;
  const output = panel.querySelector("output");
  output.textContent = "";
  const sent = send(panel, pressed);
  for (const other of buttons()) other.disabled = true;
  const { ok, why } = await sent;
  if (!ok) pressed = null; // the next news are no answer to it
  output.textContent = why;
  refresh();
  if (!ok) refocus(event.submitter);
}

// Sends a form as the browser would; `why` is the refusal, `seen` the newest moment.
async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  try {
    const answer = await fetch(submitter?.getAttribute("formaction") || form.action, { method: "POST", body });
    if (answer.status === 205) location.assign(form.dataset.next || "/");
    return { ok: answer.ok, why: answer.ok ? "" : (await answer.text()).trim(), seen: answer.headers.get("X-Seen") };
  } catch {
    return { ok: false, why: root.dataset.lost, seen: null };
  }
}

// Keeps the screen on; browsers allow it over https, or on the machine itself.
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    root.dataset.awake = "refused";
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) stayAwake();
  follow(); // the stream of a phone that slept may be dead
});
panel?.addEventListener("submit", press);
foldOnPhones();
if (talk) hideDismissed();
refresh();
follow();
stayAwake();
setInterval(tick, 200);
