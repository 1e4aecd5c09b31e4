// The board in a form that enters tiles. On a phone its squares are smaller than a thumb: the first tap enlarges the board
// around the square, and the next one chooses a square. A button below switches between the two sizes.
"use strict";

const THUMB_PX = 44;

document.addEventListener("click", enlargeInstead, true); // before the listeners that choose a square or lift its tile

function enlargeInstead(event) {
  const square = event.target.closest?.(".board-frame button");
  if (!square || square.offsetWidth >= THUMB_PX || event.detail === 0) return; // 0: a key was pressed
  const frame = square.closest(".board-frame");
  const isTouchScreen = frame.nextElementSibling.offsetWidth > 0; // elsewhere the style sheet hides the button
  if (!isTouchScreen) return;
  event.stopImmediatePropagation();
  setEnlarged(frame, true);
  centreSquare(frame, square);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".board-zoom");
  if (!button) return;
  const frame = button.previousElementSibling;
  const isEnlarged = !frame.classList.contains("enlarged");
  setEnlarged(frame, isEnlarged);
  const squares = frame.querySelectorAll("button");
  if (isEnlarged) centreSquare(frame, frame.querySelector(".cursor, [data-chosen]") ?? squares[(squares.length - 1) / 2]);
});

function setEnlarged(frame, isEnlarged) {
  frame.classList.toggle("enlarged", isEnlarged);
  frame.nextElementSibling.setAttribute("aria-pressed", String(isEnlarged));
}

function centreSquare(frame, square) {
  const [place, shown] = [square.getBoundingClientRect(), frame.getBoundingClientRect()];
  frame.scrollBy(place.left + place.width / 2 - shown.left - shown.width / 2, place.top + place.height / 2 - shown.top - shown.height / 2);
}

// Scrolls an enlarged board, but not the page, until the square and its neighbours are in view.
function showSquare(square) {
  const frame = square.closest(".board-frame.enlarged");
  if (!frame) return;
  const [place, shown] = [square.getBoundingClientRect(), frame.getBoundingClientRect()];
  const scroll = (low, high, first, last) => Math.min(0, low - place.width - first) || Math.max(0, high + place.width - last);
  frame.scrollBy(scroll(place.left, place.right, shown.left, shown.right), scroll(place.top, place.bottom, shown.top, shown.bottom));
}
