// The form that enters a turn on the board: tiles are lifted and placed, and the form sends the resulting board.
"use strict";

const NO_TILE = ".";

document.addEventListener("click", (event) => {
  const button = event.target.closest(".board-entry [data-lay]");
  if (!button) return;
  const form = button.form;
  if (button.dataset.lay === "square") tapSquare(form, button);
  else if (button.dataset.lay === "letter") placeLetter(form, button);
  else placeLifted(form, button);
  const squares = listSquares(form);
  const rows = Array.from({ length: SIDE }, (_, row) => squares.slice(row * SIDE, (row + 1) * SIDE));
  form.elements.symbols.value = rows.map((row) => row.map((square) => square.value).join(" ")).join("\n");
});

function listSquares(form) {
  return [...form.querySelectorAll("[data-lay=square]")];
}

// A tap lifts the tile of a square. A second tap on an empty square turns the direction from across to down.
function tapSquare(form, square) {
  if (square.value !== NO_TILE) liftTile(form, square);
  else if (square.hasAttribute("data-chosen")) return choose(form, square, square.dataset.chosen === "down" ? "across" : "down");
  choose(form, square, form.querySelector("[data-chosen]")?.dataset.chosen ?? "across");
}

// Tiles of the board stay at hand. A tile that was just placed from the rack goes back to the rack.
function liftTile(form, square) {
  if (square.value === square.dataset.was || square.dataset.moved) {
    const lifted = document.createElement("button");
    lifted.type = "button";
    lifted.dataset.lay = "lifted";
    lifted.value = square.value;
    lifted.textContent = square.value;
    form.querySelector("[data-lifted]").append(lifted);
  }
  showTile(square, NO_TILE, "");
}

function placeLetter(form, key) {
  const blank = form.elements.blank;
  place(form, blank.checked ? key.dataset.blank : key.value, key.value, "");
  blank.checked = false;
}

function placeLifted(form, lifted) {
  if (place(form, lifted.value, lifted.textContent, "1")) lifted.remove();
}

// Puts a tile on the chosen square, and chooses the next empty square of the line.
function place(form, symbol, letter, moved) {
  const square = form.querySelector("[data-chosen]");
  if (!square || square.value !== NO_TILE) return false;
  showTile(square, symbol, moved, letter);
  const squares = listSquares(form);
  const step = square.dataset.chosen === "down" ? SIDE : 1;
  let at = squares.indexOf(square);
  do {
    at = step === 1 && at % SIDE === SIDE - 1 ? squares.length : at + step;
  } while (at < squares.length && squares[at].value !== NO_TILE);
  choose(form, squares[at] ?? square, square.dataset.chosen);
  return true;
}

function showTile(square, symbol, moved, letter = "") {
  square.value = symbol;
  square.dataset.moved = moved;
  square.textContent = letter;
  square.classList.toggle("changed", symbol !== square.dataset.was);
  square.setAttribute("aria-label", `${square.id.slice("lay-".length)} ${letter}`.trim());
}

function choose(form, square, direction) {
  for (const other of form.querySelectorAll("[data-chosen]")) delete other.dataset.chosen;
  square.dataset.chosen = direction;
  showSquare(square);
}
