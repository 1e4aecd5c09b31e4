// Shows the lights of the panel as they are now, and sends its buttons without a reload.
"use strict";

const LIGHTS_MS = 400;
const DOUBLE_TAP_MS = 700; // as device/panel/buttons.py
const lights = document.querySelector("[data-lights]");

async function watch() {
  if (document.visibilityState === "visible" && !lights.closest("[hidden]")) {
    try {
      const answer = await fetch("/panel/lights");
      const html = answer.ok ? await answer.text() : null;
      if (html !== null && html !== lights.dataset.html) {
        lights.dataset.html = html;
        lights.innerHTML = html;
        showMoment();
      }
    } catch {
      // asked again in a moment
    }
  }
  setTimeout(watch, LIGHTS_MS);
}

// A press is about the newest moment, which comes with the lights. If another game has begun, the page is loaded again,
// because its buttons have the names of the players.
function showMoment() {
  const seen = document.querySelector("[data-press]")?.elements.seen;
  if (!seen) return;
  const newest = lights.querySelector("[data-seen]").dataset.seen;
  if (newest.split("-")[0] !== seen.value.split("-")[0]) location.reload();
  else seen.value = newest;
}

async function post(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  return fetch(form.action, { method: "POST", body });
}

let lastPress = { button: null, time: 0 };

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-press]");
  if (!form) return;
  event.preventDefault();
  const press = { button: event.submitter, time: event.timeStamp };
  const isDoubleTap = press.button === lastPress.button && press.time - lastPress.time < DOUBLE_TAP_MS;
  if (isDoubleTap) return;
  lastPress = press;
  const output = form.querySelector("output");
  output.textContent = "";
  try {
    const answer = await post(form, event.submitter);
    if (!answer.ok) output.textContent = (await answer.text()).trim();
  } catch {
    output.textContent = form.dataset.lost;
  }
});

if (lights) watch();
