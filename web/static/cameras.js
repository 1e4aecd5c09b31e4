// The live picture of the camera that is chosen: a new one as soon as the last one is there, while the page is visible.
"use strict";

const NEXT_MS = 500;
const AGAIN_MS = 2000; // after an error: a camera may need a moment
const live = document.querySelector(".cameras .live");
const picture = live.querySelector("img");
let shown = ""; // the address of the pictures of the chosen camera

async function showPicture(address) {
  if (shown !== address) return;
  let wait = AGAIN_MS;
  if (document.visibilityState === "visible") {
    let problem = live.dataset.lost;
    try {
      const answer = await fetch(address);
      if (answer.ok) {
        const found = await answer.blob();
        if (shown !== address) return;
        URL.revokeObjectURL(picture.src);
        picture.src = URL.createObjectURL(found);
        picture.hidden = false;
        problem = "";
        wait = NEXT_MS;
      } else {
        problem = (await answer.text()).trim();
      }
    } catch {
      // the table is away
    }
    if (shown !== address) return;
    live.querySelector("output").textContent = problem;
  }
  setTimeout(showPicture, wait, address);
}

function follow() {
  shown = document.querySelector(".cameras :checked")?.dataset.picture ?? "";
  live.hidden = !shown;
  picture.hidden = true;
  live.querySelector("output").textContent = "";
  if (shown) showPicture(shown);
}

document.querySelector(".cameras").addEventListener("change", (event) => event.target.type === "radio" && follow());
follow();
