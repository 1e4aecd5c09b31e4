// Shows a game turn by turn: with the slider, the arrows beside it, the list of turns, and the arrow keys.
"use strict";

const past = document.getElementById("past");
let wanted = null; // the address of the newest request

async function turnTo(address, focus) {
  wanted = address;
  try {
    const answer = await fetch(address, { headers: { "X-Part": "1" } });
    const html = await answer.text();
    if (wanted !== address) return; // the slider has moved on
    if (!answer.ok) return location.assign(address);
    const note = findNote();
    past.innerHTML = html;
    if (note?.open) findNote()?.replaceWith(note);
    showStep();
  } catch {
    return location.assign(address); // the browser says what is wrong
  }
  history.replaceState(null, "", address);
  if (focus) past.querySelector(focus)?.focus({ preventScroll: true });
}

// The form of the note on the game, which stays open with its text at every turn.
function findNote() {
  return past.querySelector("[name=comment]")?.closest("details");
}

// Scrolls the list of turns, but not the page, until the turn that is shown is in the middle.
function showStep() {
  const [list, step] = [document.getElementById("turns"), past?.querySelector("[aria-current=step]")];
  if (!list || !step || list.scrollHeight <= list.clientHeight) return;
  list.scrollTop += step.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
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

// The arrow keys go one turn back and on, and Home and End to the first and last turn, as on a chess board.
document.addEventListener("keydown", (event) => {
  const slider = past?.querySelector("[data-slide] input");
  if (!slider || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest("input, select, textarea")) return; // the slider has these keys already
  const turn = { ArrowLeft: Number(slider.value) - 1, ArrowRight: Number(slider.value) + 1, Home: 0, End: Number(slider.max) }[event.key];
  if (turn === undefined) return;
  event.preventDefault();
  if (turn < 0 || turn > Number(slider.max)) return;
  slider.value = turn; // the next key counts on from here, even before the table has answered
  turnTo(`${slider.form.getAttribute("action")}?turn=${turn}`);
});

// The second half of a double tap would send the form again, and its answer ("already stored") would be shown.
const SENT_AGAIN_MS = 5000;
let sentAt = -SENT_AGAIN_MS;

past?.addEventListener("submit", (event) => {
  if (event.timeStamp - sentAt < SENT_AGAIN_MS) event.preventDefault();
  else sentAt = event.timeStamp;
});

showStep();
// On a phone, the links to the other pages scroll sideways: the one of this page is scrolled into view.
document.querySelector("nav.pages [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
