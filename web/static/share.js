// Shares the board that is shown, as a picture with the result. Where the browser shares nothing (over plain http), the
// picture is saved and the link is copied.
"use strict";

const [WIDTH_PX, HEAD_PX, MARGIN_PX] = [1080, 120, 24];
const STYLES = ["fill", "opacity", "stroke", "stroke-width", "font-family", "font-size", "font-weight", "text-anchor", "stop-color"];

document.documentElement.dataset.script = "";

document.addEventListener("click", (event) => {
  const button = event.target.closest(".share");
  if (button) share(button);
});

async function share(button) {
  const output = button.parentElement.querySelector("output");
  const result = document.querySelector("h1").textContent.trim();
  const link = location.origin + button.dataset.path;
  const board = await drawPicture(document.querySelector("svg.board"), result);
  const files = [new File([board], button.dataset.file, { type: "image/png" })];
  if (navigator.canShare?.({ files })) {
    try {
      await navigator.share({ files, title: result, text: `${result}\n${link}` });
    } catch (error) {
      if (error.name !== "AbortError") throw error; // the user has closed the list of apps
    }
    return;
  }
  save(files[0]);
  output.textContent = copy(link) ? button.dataset.copied : button.dataset.saved;
}

// Returns a PNG of the board under a line with the result, in the colours of the page.
async function drawPicture(svg, result) {
  const image = await loadSvg(svg);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH_PX, WIDTH_PX + HEAD_PX];
  const context = canvas.getContext("2d");
  const page = getComputedStyle(document.body);
  context.fillStyle = page.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = page.color;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.font = `600 52px ${page.fontFamily}`;
  context.fillText(result, WIDTH_PX / 2, HEAD_PX / 2 + MARGIN_PX / 2, WIDTH_PX - 2 * MARGIN_PX);
  context.drawImage(image, MARGIN_PX, HEAD_PX, WIDTH_PX - 2 * MARGIN_PX, WIDTH_PX - 2 * MARGIN_PX);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// An image has no style sheets, so each shape takes its styles along.
async function loadSvg(svg) {
  const copied = svg.cloneNode(true);
  const [shapes, copies] = [svg, copied].map((root) => [root, ...root.querySelectorAll("*")]);
  shapes.forEach((shape, i) => {
    const style = getComputedStyle(shape);
    for (const name of STYLES) copies[i].setAttribute(name, style.getPropertyValue(name));
    copies[i].removeAttribute("class");
  });
  copied.setAttribute("width", WIDTH_PX);
  copied.setAttribute("height", WIDTH_PX);
  const image = new Image();
  const source = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copied)], { type: "image/svg+xml" }));
  try {
    image.src = source;
    await image.decode();
  } finally {
    URL.revokeObjectURL(source);
  }
  return image;
}

function save(file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// The clipboard of the browser is for https only; this older way works everywhere.
function copy(text) {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
  }
}
