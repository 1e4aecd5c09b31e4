// The forms behind the buttons open in a dialog, and the squares of the board are reached with the arrow keys.
"use strict";

const dialog = document.getElementById("dialog");
const SIDE = 15;
const DOUBLE_TAP_MS = 700; // nobody reads a refusal and presses again within this time

let lastOpened = ""; // forms of earlier addresses are not shown
let openedBy = null; // gets the focus back

async function open(address) {
  lastOpened = address;
  if (!dialog.open) openedBy = document.activeElement;
  const output = panel?.querySelector("output");
  try {
    const answer = await fetch(address, { headers: { "X-Dialog": "1" } });
    const html = await answer.text();
    if (lastOpened !== address) return;
    dialog.innerHTML = html;
    prepare(dialog);
    if (output) output.textContent = "";
  } catch {
    if (!output) return location.assign(address); // the browser says what is wrong
    output.textContent = root.dataset.lost;
    return dialog.close();
  }
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
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
  if (!dialog.contains(form)) return; // another form is open meanwhile
  if (ok) {
    rest(); // the second half of a double tap would press a button below the form
    refresh();
    return dialog.close();
  }
  output.textContent = why;
  // A user who has read the refusal and presses again means the newest game.
  if (seen !== null && form.elements.seen) setTimeout(() => { form.elements.seen.value = seen; }, DOUBLE_TAP_MS);
  output.scrollIntoView({ block: "nearest" });
});

dialog?.addEventListener("close", () => {
  if (dialog.contains(document.activeElement)) document.activeElement.blur();
  refocus(openedBy);
});

// A tap beside the dialog closes it, unless something may have been entered.
dialog?.addEventListener("click", (event) => {
  if (event.target === dialog && !dialog.querySelector("input:not([type=hidden]), select, .laid")) dialog.close();
});

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
document.addEventListener("keydown", (event) => {
  const square = event.target.closest?.("svg.board a[id]");
  const step = STEPS[event.key];
  if (!square || !step) return;
  event.preventDefault();
  const squares = [...square.ownerSVGElement.querySelectorAll("a[id]")];
  const at = squares.indexOf(square);
  const across = square.ownerSVGElement.dataset.rtl === undefined ? step[0] : -step[0];
  const column = (at % SIDE) + across;
  const next = squares[at + across + SIDE * step[1]];
  if (!next || column < 0 || column >= SIDE) return;
  square.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
});

// Extras of the forms, which work without them.
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.id === "turn-kind") showFields(field);
});

// The first tap fills in what is recorded, to change it letter by letter.
document.addEventListener("focusin", (event) => {
  if (event.target.dataset?.now === undefined) return;
  for (const field of event.target.form.querySelectorAll("[data-now]")) {
    field.value ||= field.dataset.now;
    delete field.dataset.now;
  }
});

function showFields(kind) {
  const chosen = kind.selectedOptions[0].dataset.kind;
  for (const part of kind.form.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(chosen);
}

// Shows the parts that need scripts instead of the plain ones.
function prepare(container) {
  for (const part of container.querySelectorAll(".taps, [data-script]")) part.hidden = false;
  for (const part of container.querySelectorAll("[data-plain]")) part.hidden = true;
  const kind = container.querySelector("#turn-kind");
  if (kind) showFields(kind);
  container.dispatchEvent(new Event("prepare", { bubbles: true }));
}

// Letters are tapped instead of typed, each tile as often as it is there; with spaces, because L L is not LL.
document.addEventListener("click", (event) => {
  const button = event.target.closest(".taps button");
  if (!button) return;
  const field = document.getElementById(button.parentElement.dataset.into);
  field.value = button.value ? `${field.value} ${button.value}`.trim() : field.value.replace(/\s*\S+\s*$/, "");
  for (const other of button.parentElement.querySelectorAll("[data-count]")) {
    other.disabled = field.value.split(" ").filter((tile) => tile === other.value).length >= Number(other.dataset.count);
  }
});

prepare(document);
