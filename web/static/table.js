// The forms behind the buttons open in a dialog, and the squares of the board are reached with the arrow keys.
"use strict";

const dialog = document.getElementById("dialog");
const SIDE = 15;

async function open(address) {
  try {
    const answer = await fetch(address, { headers: { "X-Dialog": "1" } });
    dialog.innerHTML = await answer.text();
  } catch {
    return location.assign(address); // the browser says what is wrong
  }
  if (!dialog.open) dialog.showModal();
  (dialog.querySelector("[autofocus]") || dialog.querySelector(".close button"))?.focus();
}

function follows(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-dialog]");
  if (!dialog || !link || !follows(event)) return;
  event.preventDefault();
  open(link.getAttribute("href"));
});

dialog?.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  if (form.method === "get") return open(`${form.action}?${new URLSearchParams(new FormData(form))}`);
  const output = form.querySelector("output");
  output.textContent = "";
  const { ok, why, seen } = await send(form, event.submitter);
  if (ok) return dialog.close();
  output.textContent = why;
  // Whoever was told what happened meanwhile may press again, and means the game as it is now.
  if (seen !== null && form.elements.seen) form.elements.seen.value = seen;
  output.scrollIntoView({ block: "nearest" });
});

// A tap beside the dialog closes it, unless something was typed.
dialog?.addEventListener("click", (event) => {
  if (event.target === dialog && !dialog.querySelector("input:not([type=hidden])")) dialog.close();
});

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
document.addEventListener("keydown", (event) => {
  const square = event.target.closest?.("svg.board a");
  const step = STEPS[event.key];
  if (!square || !step) return;
  event.preventDefault();
  const squares = [...square.ownerSVGElement.querySelectorAll("a")];
  const at = squares.indexOf(square);
  const column = (at % SIDE) + step[0];
  const next = squares[at + step[0] + SIDE * step[1]];
  if (!next || column < 0 || column >= SIDE) return;
  square.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
});
