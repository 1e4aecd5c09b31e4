// A game is gone through by the slider, the arrows beside it, the list of turns, and the arrow keys.
"use strict";

const past = document.getElementById("past");
let wanted = null;

async function turnTo(address, focus) {
  wanted = address;
  try {
    const answer = await fetch(address, { headers: { "X-Part": "1" } });
    const html = await answer.text();
    if (wanted !== address) return; // the slider has moved on
    if (!answer.ok) return location.assign(address);
    past.innerHTML = html;
  } catch {
    return location.assign(address); // the browser says what is wrong
  }
  history.replaceState(null, "", address);
  if (focus) past.querySelector(focus)?.focus({ preventScroll: true });
}

past?.addEventListener("input", (event) => {
  const form = event.target.closest("[data-slide]");
  if (form) turnTo(`${form.getAttribute("action")}?turn=${event.target.value}`, "[data-slide] input");
});

past?.addEventListener("click", (event) => {
  const link = event.target.closest("[data-slide] a, .steps a");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const focus = link.rel ? `[data-slide] a[rel=${link.rel}]` : "[aria-current]";
  turnTo(link.getAttribute("href"), focus);
});
