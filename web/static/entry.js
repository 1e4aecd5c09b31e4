// Enters a turn on a board: tap a square, choose across or down, and tap or type the letters. The table checks and
// scores the play before it counts.
"use strict";

const PREVIEW_MS = 150; // letters that are typed within this time are scored once
const entries = new WeakMap(); // form -> { start, across, letters: [{ text, word, blank }], preview }

function entryOf(form) {
  if (!entries.has(form)) entries.set(form, { start: null, across: true, letters: [], asBlank: false, preview: 0, timer: 0 });
  return entries.get(form);
}

function squaresOf(form) {
  return [...form.querySelectorAll(".sq")];
}

// The squares from the start to the edge of the board in the direction of the play.
function lineOf(entry, squares) {
  const line = [];
  for (let at = entry.start; at < squares.length; at += entry.across ? 1 : SIDE) {
    if (entry.across && Math.floor(at / SIDE) !== Math.floor(entry.start / SIDE)) break;
    line.push(at);
  }
  return line;
}

// Draws the letters, fills in the fields of the form (as GCG writes a play), and asks for the score.
function update(form) {
  const entry = entryOf(form);
  const squares = squaresOf(form);
  for (const square of squares) {
    if (square.classList.contains("laid")) square.textContent = "";
    square.classList.remove("laid", "blank-laid", "cursor", "down");
  }
  const word = [];
  let next = null;
  if (entry.start !== null) {
    const line = lineOf(entry, squares);
    const letters = [...entry.letters];
    for (const at of line) {
      const square = squares[at];
      if (square.classList.contains("taken")) {
        word.push(".");
        continue;
      }
      if (!letters.length) {
        next = at;
        break;
      }
      const letter = letters.shift();
      square.textContent = letter.text;
      square.classList.add("laid");
      square.classList.toggle("blank-laid", letter.blank);
      word.push(letter.word);
    }
    entry.letters.length -= letters.length; // the line has no room for them
    if (next !== null) {
      squares[next].classList.add("cursor", ...(entry.across ? [] : ["down"]));
      showSquare(squares[next]);
    }
    while (word.at(-1) === ".") word.pop();
    const name = squares[entry.start].dataset.name;
    form.elements.at.value = entry.across ? name.slice(1) + name[0] : name;
  }
  form.elements.notation.value = entry.letters.length ? word.join("") : "";
  form.querySelector(".direction").textContent = entry.across ? form.dataset.across : form.dataset.down;
  form.querySelector(".as-blank").setAttribute("aria-pressed", String(entry.asBlank));
  form.querySelector(".primary").disabled = !form.elements.notation.value;
  clearTimeout(entry.timer);
  entry.timer = setTimeout(showPreview, PREVIEW_MS, form);
}

async function showPreview(form) {
  const entry = entryOf(form);
  const mine = ++entry.preview;
  const place = form.querySelector(".entry-preview");
  if (!form.elements.notation.value) return fill(form, place, "");
  const query = new URLSearchParams({ at: form.elements.at.value, word: form.elements.notation.value });
  try {
    const answer = await fetch(`/dialogs/entry/preview?${query}`);
    const html = await answer.text();
    if (mine === entry.preview) fill(form, place, html);
  } catch {
    if (mine === entry.preview) place.textContent = form.dataset.lost;
  }
}

// Shows the preview. A longer or shorter one scrolls the form, so that the keys stay where the thumb is.
function fill(form, place, html) {
  const keys = form.querySelector(".entry-keys");
  const before = keys.getBoundingClientRect().top;
  place.innerHTML = html;
  const scroller = form.closest("dialog") ?? document.scrollingElement;
  scroller.scrollBy({ top: keys.getBoundingClientRect().top - before, behavior: "instant" });
}

function addLetter(form, key) {
  const entry = entryOf(form);
  if (entry.start === null) entry.start = (SIDE * SIDE - 1) / 2;
  entry.letters.push({ text: key.textContent, word: entry.asBlank ? key.dataset.blank : key.dataset.letter, blank: entry.asBlank });
  entry.asBlank = false;
  update(form);
}

function chooseSquare(form, square) {
  const entry = entryOf(form);
  const at = squaresOf(form).indexOf(square);
  if (entry.start === at) entry.across = !entry.across;
  entry.start = at;
  update(form);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".entry button[type=button]");
  if (!button) return;
  const { form } = button;
  const entry = entryOf(form);
  if (button.classList.contains("sq")) return chooseSquare(form, button);
  if (button.dataset.letter) return addLetter(form, button);
  if (button.classList.contains("erase")) entry.letters.pop();
  if (button.classList.contains("direction")) entry.across = !entry.across;
  if (button.classList.contains("as-blank")) entry.asBlank = !entry.asBlank;
  update(form);
});

// With a keyboard: arrows move over the board, space changes the direction, letters are placed.
document.addEventListener("keydown", (event) => {
  const square = event.target.closest?.(".entry .sq");
  if (!square || event.ctrlKey || event.metaKey || event.altKey) return;
  const { form } = square;
  const entry = entryOf(form);
  const squares = squaresOf(form);
  const step = STEPS[event.key];
  if (step) {
    const at = squares.indexOf(square);
    const across = square.parentElement.dir === "rtl" ? -step[0] : step[0];
    const next = squares[at + across + SIDE * step[1]];
    const column = (at % SIDE) + across;
    if (!next || column < 0 || column >= SIDE) return;
    square.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    entry.start = squares.indexOf(next);
    update(form);
  } else if (event.key === "Backspace") {
    entry.letters.pop();
    update(form);
  } else if (event.key === " ") {
    chooseSquare(form, squares[entry.start ?? squares.indexOf(square)]);
  } else if (event.key === "Enter" && entry.letters.length) {
    form.requestSubmit(form.querySelector(".primary"));
  } else {
    // The tiles decide which small letter belongs to a capital: in Turkish i to İ, in other languages i to I.
    const letter = event.key.toLocaleUpperCase(document.documentElement.lang);
    const keys = [...form.querySelectorAll(".entry-keys button")];
    const key = keys.find((button) => button.dataset.blank === event.key) ?? keys.find((button) => button.textContent === letter);
    if (!key) return;
    addLetter(form, key);
  }
  event.preventDefault();
});
