// Makes this phone the camera of the table: small pictures all the time, and a full one whenever the table wants it.
"use strict";

const INTERVAL_MS = 200; // five small pictures a second
const SHORT_SIDE_PX = 432; // of small pictures: what the table needs to tell similar letters apart
const LONG_SIDE_PX = 2560; // of full ones, as vision/photo.py
const PREVIEW_QUALITY = 0.7;
const STILL_QUALITY = 0.92;
const ANSWER_MS = 8000; // the table waits as long for a full picture
const RETRY_MS = [500, 1000, 2000, 4000];
const TABLE_RESTARTED = 409;
const REPLACED = 410;
const VIDEO = {
  facingMode: { ideal: "environment" },
  width: { ideal: LONG_SIDE_PX },
  height: { ideal: (LONG_SIDE_PX * 3) / 4 },
};

const camera = document.getElementById("camera");
const view = document.getElementById("view");
const message = document.getElementById("said");
const form = document.getElementById("start");
const small = document.createElement("canvas");
let stream = ""; // the id by which the table knows this phone
let isOn = false; // the user wants this phone to be the camera
let newestRun = 0; // counts starts and ends; answers to an earlier run have no effect

function showMessage(text, state) {
  if (message.textContent !== text) message.textContent = text;
  message.className = state === "on" ? "yes" : "no";
  for (const button of form.querySelectorAll("[data-shown]")) button.hidden = button.dataset.shown !== state;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
const delay = (failures) => sleep(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);

// Returns the answer, or null without a connection to the table.
async function post(path, body, type) {
  const headers = { "X-CSRF-Token": form.elements.csrf.value };
  if (type) headers["Content-Type"] = type;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ANSWER_MS);
  try {
    return await fetch(`/camera/${path}`, { method: "POST", body, headers, signal: abort.signal });
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

const canRetry = (answer) => answer === null || answer.status >= 500;

async function start(takesOver) {
  const run = ++newestRun;
  isOn = true;
  try {
    await openCamera();
  } catch (error) {
    if (run === newestRun) end(error.name === "NotAllowedError" ? camera.dataset.denied : camera.dataset.failed);
    return;
  }
  stayAwake();
  if (run === newestRun && (await register(run, takesOver))) await send(run);
}

async function openCamera() {
  if (view.srcObject?.active) return;
  const media = await navigator.mediaDevices.getUserMedia({ video: VIDEO, audio: false });
  media.getVideoTracks()[0].addEventListener("ended", () => {
    if (isOn && view.srcObject === media) end(camera.dataset.failed);
  });
  view.srcObject = media;
  view.hidden = false;
  await view.play();
}

// Tells the table that this phone is the camera; returns false if it is not.
async function register(run, takesOver) {
  for (let failures = 0; run === newestRun; failures += 1) {
    const answer = await post("start", new URLSearchParams({ takes_over: takesOver ? "1" : "" }));
    if (run !== newestRun) break;
    if (answer?.ok) {
      ({ stream } = await answer.json());
      return true;
    }
    if (!canRetry(answer)) {
      end((await answer.text()).trim(), answer.status === TABLE_RESTARTED ? "in-use" : "off");
      break;
    }
    showMessage(camera.dataset.lost, "on");
    await delay(failures);
  }
  return false;
}

// Returns true while the phone gives no new pictures, as during a call: old ones must not be sent again.
function isFrozen() {
  if (view.paused) view.play().catch(() => {});
  return view.paused || view.srcObject.getVideoTracks()[0].muted;
}

async function send(run) {
  let failures = 0;
  let sent = null; // the number of the full picture that was sent last
  while (run === newestRun) {
    if (isFrozen()) {
      showMessage(camera.dataset.failed, "on");
      await delay(failures++);
      continue;
    }
    const began = performance.now();
    const picture = await encode(small, SHORT_SIDE_PX / Math.min(view.videoWidth, view.videoHeight), PREVIEW_QUALITY);
    const answer = await post(`preview?stream=${stream}`, picture, "image/jpeg");
    if (run !== newestRun) return;
    if (answer?.ok) {
      failures = 0;
      showMessage(camera.dataset.sending, "on");
      const { still } = await answer.json();
      if (still !== null && still !== sent) {
        sent = still;
        sendStill(still).then((isSent) => { if (!isSent && sent === still) sent = null; });
      }
    } else if (answer?.status === TABLE_RESTARTED) {
      if (!(await register(run, false))) return;
    } else if (canRetry(answer)) {
      showMessage(camera.dataset.lost, "on");
      await delay(failures++);
    } else {
      return end((await answer.text()).trim(), answer.status === REPLACED ? "in-use" : "off");
    }
    await sleep(INTERVAL_MS - (performance.now() - began));
  }
}

async function sendStill(number) {
  const canvas = document.createElement("canvas");
  const picture = await encode(canvas, LONG_SIDE_PX / Math.max(view.videoWidth, view.videoHeight), STILL_QUALITY);
  canvas.width = canvas.height = 0; // frees the memory at once
  return (await post(`still?stream=${stream}&number=${number}`, picture, "image/jpeg"))?.ok;
}

function encode(canvas, scale, quality) {
  const share = Math.min(1, scale);
  canvas.width = Math.round(view.videoWidth * share);
  canvas.height = Math.round(view.videoHeight * share);
  const context = canvas.getContext("2d", { alpha: false });
  context.imageSmoothingQuality = "high";
  context.drawImage(view, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
}

// Stops sending, and notifies the table, so that it does not wait for pictures.
function pause() {
  newestRun += 1;
  if (stream) {
    const body = new URLSearchParams({ csrf: form.elements.csrf.value });
    navigator.sendBeacon(`/camera/stop?stream=${stream}`, body);
  }
  stream = "";
  for (const track of view.srcObject?.getTracks() ?? []) track.stop();
  view.srcObject = null;
  view.hidden = true;
}

function end(text, state = "off") {
  isOn = false;
  pause();
  showMessage(text, state);
}

async function stayAwake() {
  try {
    await navigator.wakeLock.request("screen");
  } catch {
    document.getElementById("dark").hidden = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter.name === "stop") end(camera.dataset.off);
  else start(event.submitter.value === "1");
});
document.addEventListener("visibilitychange", () => {
  if (!isOn) return;
  if (document.visibilityState === "visible") start(false);
  else pause();
});
window.addEventListener("pagehide", pause);

if (navigator.mediaDevices?.getUserMedia) { // only over https, or on the machine itself
  camera.hidden = false;
  document.getElementById("plain").hidden = true;
}
