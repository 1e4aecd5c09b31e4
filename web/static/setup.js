// The steps of setting a table up: the camera's live picture with the board outlined, its corners dragged by thumb.
"use strict";

const LOOK_AGAIN_MS = 700;
const STEP = 2; // pixels of the picture that an arrow key moves a corner; with Shift ten times as many
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LOUPE = 160;

const sight = document.getElementById("sight");
const photo = document.getElementById("photo");
const outline = document.getElementById("outline");
const loupe = document.getElementById("loupe");
const said = document.getElementById("said");
const problems = document.getElementById("problems");
const cornersForm = document.getElementById("corners");
const handles = [...document.querySelectorAll(".corner")];
const steps = [...document.querySelectorAll(".step")];
const rehearsal = document.getElementById("rehearse");

let size = [1280, 960];
let corners = null;
let dragged = null;
let moved = 0; // counts what people did: a look that began before it says nothing about the corners
let unplaced = false; // a corner was moved, and the table does not know it yet: a look would put it back
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
  say(view.said, corners !== null);
  problems.replaceChildren(...view.problems.map((problem) => Object.assign(document.createElement("li"), { textContent: problem })));
  draw();
}

function say(text, well) {
  if (said.textContent !== text) said.textContent = text;
  said.className = well ? "yes" : "no";
}

async function look() {
  clearTimeout(lookTimer);
  const began = moved;
  if (document.visibilityState === "visible" && !steps[0].hidden && !unplaced) {
    try {
      const answer = await fetch("/setup/look");
      if (answer.ok) show(await answer.json(), began);
      else if (began === moved) say((await answer.text()).trim(), false);
    } catch {
      say(document.getElementById("setup").dataset.lost, false);
    }
  }
  lookTimer = setTimeout(look, LOOK_AGAIN_MS);
}

async function place(placed) {
  const mine = ++moved;
  unplaced = true;
  cornersForm.elements.corners.value = placed ? placed.map((point) => point.map((v) => v.toFixed(1)).join(",")).join(" ") : "";
  try {
    const answer = await post(cornersForm);
    if (answer.ok) show(await answer.json(), mine);
    else if (mine === moved) say((await answer.text()).trim(), false);
  } finally {
    if (mine === moved) unplaced = false;
  }
}

function move(i, x, y) {
  corners = corners || handles.map((handle) => handle.getAttribute("transform").match(/-?[\d.]+/g).map(Number));
  corners = corners.map((point, n) => (n === i ? [Math.min(Math.max(x, 0), size[0] - 1), Math.min(Math.max(y, 0), size[1] - 1)] : point));
  moved += 1;
  unplaced = true;
  draw();
  const [cx, cy] = corners[i];
  loupe.setAttribute("viewBox", `${cx - LOUPE / 2} ${cy - LOUPE / 2} ${LOUPE} ${LOUPE}`);
  loupe.querySelector("path").setAttribute("d", `M${cx - 30} ${cy}h60M${cx} ${cy - 30}v60`);
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
    const at = handle.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    offset = [at[0] - x, at[1] - y];
    dragged = i;
    move(i, ...at);
    loupe.classList.add("shown");
    loupe.classList.toggle("right", at[0] < size[0] / 2);
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
    const at = handle.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    const step = event.shiftKey ? 10 * STEP : STEP;
    move(i, at[0] + step * arrow[0], at[1] + step * arrow[1]);
    clearTimeout(handle.timer);
    handle.timer = setTimeout(() => place(corners), 500);
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
  const answer = await post(form);
  output.textContent = answer.ok ? (await answer.json()).said : (await answer.text()).trim();
  button.disabled = false;
});

// One step at a time

function go(to) {
  const at = Math.max(0, steps.findIndex((step) => `#${step.id}` === to));
  const rehearses = steps.findIndex((step) => step.querySelector("[data-rehearse]"));
  steps.forEach((step, i) => { step.hidden = i !== at; });
  for (const link of document.querySelectorAll(".steps a")) {
    link.toggleAttribute("aria-current", link.getAttribute("href") === `#${steps[at].id}`);
    if (link.hasAttribute("aria-current")) link.setAttribute("aria-current", "step");
  }
  const [back, next] = [document.querySelector(".walk .back"), document.querySelector(".walk .next")];
  back.hidden = at === 0;
  next.hidden = at === steps.length - 1;
  back.onclick = () => location.assign(`#${steps[at - 1].id}`);
  next.onclick = () => location.assign(`#${steps[at + 1].id}`);
  if (rehearsal) rehearse(at === rehearses);
}

function rehearse(on) {
  if (String(Number(on)) === rehearsal.dataset.on) return;
  rehearsal.dataset.on = rehearsal.elements.on.value = String(Number(on));
  post(rehearsal);
}

window.addEventListener("hashchange", () => {
  go(location.hash);
  window.scrollTo(0, 0);
});
window.addEventListener("pagehide", () => {
  if (!rehearsal || rehearsal.dataset.on !== "1") return;
  rehearsal.elements.on.value = "0";
  navigator.sendBeacon(rehearsal.action, new URLSearchParams(new FormData(rehearsal)));
});
go(location.hash);
if (sight) { // not at a table whose pictures are taken by phones
  draw();
  look();
}
