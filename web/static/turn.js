// Shows the score sheet as it would be after the correction in the form of a turn.
"use strict";

const TURN_PREVIEW_MS = 400;
let turnPreview = 0;

document.addEventListener("input", (event) => {
  const form = event.target.closest("form.turn");
  if (!form) return;
  clearTimeout(turnPreview);
  turnPreview = setTimeout(showTurnPreview, TURN_PREVIEW_MS, form);
});

async function showTurnPreview(form) {
  const mine = turnPreview;
  const place = form.querySelector(".turn-preview");
  try {
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.dataset.preview, { method: "POST", headers: { "X-Dialog": "1" }, body });
    const html = await answer.text();
    if (mine === turnPreview) place.innerHTML = html;
  } catch {
    place.textContent = "";
  }
}
