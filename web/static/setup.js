// The steps of the set-up: the live picture with the outline of the board, whose corners can be dragged, and the panel.
"use strict";

const LOOK_AGAIN_MS = 700;
const KEYS_REST_MS = 500; // time after the last arrow key until the corner is sent
const STEP = 2; // pixels of the picture that an arrow key moves a corner; with Shift ten times as many
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LOUPE = 160; // side of the part that the loupe shows, in pixels of the picture
const CROSS = 30; // length of each arm of the cross in the loupe, in pixels of the picture

const sight = document.getElementById("sight");
const photo = document.getElementById("photo");
const outline = document.getElementById("outline");
const loupe = document.getElementById("loupe");
const message = document.getElementById("said");
const problems = document.getElementById("problems");
const cornersForm = document.getElementById("corners");
const handles = [...document.querySelectorAll(".corner")];
const steps = [...document.querySelectorAll(".step")];
const rehearsal = document.getElementById("rehearse");

let size = [1280, 960];
let corners = null;
let dragged = null;
let moved = 0; // counts changes of the corners; a look that began before the last change does not set them
let unplaced = false; // a moved corner is not sent yet; until then there is no look, which would move it back
let lookTimer = null;

// The board in the picture

function draw() {
  const points = corners || [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8]].map(([x, y]) => [x * size[0], y * size[1]]);
  outline.setAttribute("points", points.map((point) => point.join(",")).join(" "));
  sight.classList.toggle("unsure", corners === null);
  handles.forEach((handle, i) => handle.setAttribute("transform", `translate(${points[i].join(" ")})`));
}

function show(view, began) {
  size = view.size;
  sight.setAttribute("viewBox", `0 0 ${size.join(" ")}`);
  for (const image of [photo, loupe.querySelector("image")]) {
    image.setAttribute("href", view.picture);
    image.setAttribute("width", size[0]);
    image.setAttribute("height", size[1]);
  }
  if (began !== moved) return;
  corners = view.corners;
  showMessage(view.said, corners !== null);
  problems.replaceChildren(...view.problems.map((problem) => Object.assign(document.createElement("li"), { textContent: problem })));
  draw();
}

function showMessage(text, isGood) {
  if (message.textContent !== text) message.textContent = text;
  message.className = isGood ? "yes" : "no";
}

async function look() {
  clearTimeout(lookTimer);
  const began = moved;
  if (document.visibilityState === "visible" && !sight.closest(".step").hidden && !unplaced) {
    try {
      const answer = await fetch("/setup/look");
      if (answer.ok) show(await answer.json(), began);
      else if (began === moved) showMessage((await answer.text()).trim(), false);
    } catch {
      showMessage(document.getElementById("setup").dataset.lost, false);
    }
  }
  lookTimer = setTimeout(look, LOOK_AGAIN_MS);
}

// Sends the corners; null makes the table search the board again.
async function place(placed) {
  const began = ++moved;
  unplaced = true;
  const points = (placed ?? []).map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
  cornersForm.elements.corners.value = points.join(" ");
  try {
    const answer = await post(cornersForm);
    if (answer.ok) show(await answer.json(), began);
    else if (began === moved) showMessage((await answer.text()).trim(), false);
  } catch {
    showMessage(document.getElementById("setup").dataset.lost, false);
  } finally {
    if (began === moved) unplaced = false;
  }
}

function positionOf(handle) {
  return handle.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
}

function move(i, x, y) {
  const inside = [Math.min(Math.max(x, 0), size[0] - 1), Math.min(Math.max(y, 0), size[1] - 1)];
  corners = (corners ?? handles.map(positionOf)).map((point, n) => (n === i ? inside : point));
  moved += 1;
  unplaced = true;
  draw();
  const [cx, cy] = inside;
  loupe.setAttribute("viewBox", `${cx - LOUPE / 2} ${cy - LOUPE / 2} ${LOUPE} ${LOUPE}`);
  loupe.querySelector("path").setAttribute("d", `M${cx - CROSS} ${cy}h${2 * CROSS}M${cx} ${cy - CROSS}v${2 * CROSS}`);
}

function inPicture(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(sight.getScreenCTM().inverse());
  return [point.x, point.y];
}

handles.forEach((handle, i) => {
  let offset = [0, 0];
  handle.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const [x, y] = inPicture(event);
    const [left, top] = positionOf(handle);
    offset = [left - x, top - y];
    dragged = i;
    move(i, left, top);
    loupe.classList.add("shown");
    loupe.classList.toggle("right", left < size[0] / 2);
  });
  handle.addEventListener("pointermove", (event) => {
    if (dragged !== i) return;
    const [x, y] = inPicture(event);
    move(i, x + offset[0], y + offset[1]);
  });
  const drop = () => {
    if (dragged !== i) return;
    dragged = null;
    loupe.classList.remove("shown");
    place(corners);
  };
  handle.addEventListener("pointerup", drop);
  handle.addEventListener("pointercancel", drop);
  handle.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    const [left, top] = positionOf(handle);
    const step = event.shiftKey ? 10 * STEP : STEP;
    move(i, left + step * arrow[0], top + step * arrow[1]);
    clearTimeout(handle.timer);
    handle.timer = setTimeout(() => place(corners), KEYS_REST_MS);
  });
});

cornersForm?.addEventListener("submit", (event) => {
  event.preventDefault();
  place(null);
});

document.getElementById("teach")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const output = form.querySelector("output");
  const button = form.querySelector("button");
  button.disabled = true;
  output.textContent = "";
  try {
    const answer = await post(form);
    output.textContent = answer.ok ? (await answer.json()).said : (await answer.text()).trim();
  } catch {
    output.textContent = document.getElementById("setup").dataset.lost;
  }
  button.disabled = false;
});

// One step at a time

function showStep(hash) {
  const current = Math.max(0, steps.findIndex((step) => `#${step.id}` === hash));
  steps.forEach((step, i) => { step.hidden = i !== current; });
  for (const link of document.querySelectorAll(".steps a")) {
    if (link.getAttribute("href") === `#${steps[current].id}`) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  const [back, next] = [document.querySelector(".walk .back"), document.querySelector(".walk .next")];
  back.hidden = current === 0;
  next.hidden = current === steps.length - 1;
  back.onclick = () => location.assign(`#${steps[current - 1].id}`);
  next.onclick = () => location.assign(`#${steps[current + 1].id}`);
  if (rehearsal) rehearse(steps[current].querySelector("[data-rehearse]") !== null);
}

function rehearse(isOn) {
  const value = isOn ? "1" : "0";
  if (value === rehearsal.dataset.on) return;
  rehearsal.dataset.on = rehearsal.elements.on.value = value;
  post(rehearsal);
}

window.addEventListener("hashchange", () => {
  showStep(location.hash);
  window.scrollTo(0, 0);
});
function endRehearsal() {
  if (!rehearsal || rehearsal.dataset.on !== "1") return;
  rehearsal.dataset.on = rehearsal.elements.on.value = "0";
  navigator.sendBeacon(rehearsal.action, new URLSearchParams(new FormData(rehearsal)));
}

window.addEventListener("pagehide", endRehearsal);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") endRehearsal(); // the phone is locked: the buttons belong to the game again
  else showStep(location.hash);
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) showStep(location.hash); // the test of the buttons begins again with the page
});
showStep(location.hash);
if (sight) { // not at a table whose pictures are taken by phones
  draw();
  look();
}
