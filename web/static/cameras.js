// The live picture of one camera in the list: a new one as soon as the last one is there, while the page is visible.
"use strict";

const NEXT_MS = 500;
const AGAIN_MS = 2000; // after an error: a camera may need a moment
let shown = null; // the button of the camera whose picture is shown

async function refresh(button) {
  if (shown !== button) return;
  const entry = button.closest("li");
  const image = entry.querySelector("[data-picture]");
  const output = entry.querySelector("output");
  let wait = AGAIN_MS;
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(button.dataset.show);
      if (shown !== button) return;
      if (answer.ok) {
        URL.revokeObjectURL(image.src);
        image.src = URL.createObjectURL(await answer.blob());
        image.hidden = false;
        output.textContent = "";
        wait = NEXT_MS;
      } else {
        output.textContent = (await answer.text()).trim();
      }
    } catch {
      output.textContent = button.dataset.lost;
    }
  }
  setTimeout(refresh, wait, button);
}

for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    if (shown) shown.closest("li").querySelector("[data-picture]").hidden = true;
    shown = shown === button ? null : button;
    if (shown) refresh(button);
  });
}
