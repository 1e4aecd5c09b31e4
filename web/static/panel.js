// The lights of the panel as they burn, and its buttons without a reload.
"use strict";

const LIGHTS_MS = 400;
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

// A press counts only for the game that the page shows: what the lights show is newer than the page.
function showMoment() {
  const seen = document.querySelector("[data-press]")?.elements.seen;
  if (seen) seen.value = lights.querySelector("[data-seen]").dataset.seen;
}

async function post(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  return fetch(form.action, { method: "POST", body });
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-press]");
  if (!form) return;
  event.preventDefault();
  const output = form.querySelector("output");
  output.textContent = "";
  const answer = await post(form, event.submitter);
  if (answer.ok) return;
  output.textContent = (await answer.text()).trim();
});

if (lights) watch();
