// Ends a turn with a picture that this phone takes, scaled down to what the table reads.
"use strict";

const LONG_SIDE_PX = 2560; // as vision/photo.py: the table would scale larger pictures down itself
const QUALITY = 0.92;
const SENT_AS_TAKEN = ["image/jpeg", "image/png", "image/webp"]; // small pictures of these types; others become a JPEG
const UNUSABLE = 422; // the reason is among the notices of the table, for all phones
const RESEND_MS = 2000;

const picture = document.getElementById("picture");
const storedPicture = document.getElementById("stored-picture"); // one that was taken before, not with `capture`
let seenAtTap = "";
let questionAtTap = "";
let isAgain = false; // the picture answers the open question
let newestPicture = 0; // counts the pictures: an earlier one is not sent again

document.addEventListener("click", (event) => {
  const button = event.target.closest("#panel .end-turn, .look-again, .stored-picture");
  if (!button || !picture) return;
  const chooser = button.classList.contains("stored-picture") ? storedPicture : picture;
  if ("fallback" in picture.dataset && !hasFlag("no-camera")) return; // a phone on a stand is the camera
  event.preventDefault();
  seenAtTap = root.dataset.seen;
  questionAtTap = button.form?.elements.question_id.value; // of the dialog, which may be older than the page
  isAgain = button.classList.contains("look-again");
  chooser.value = ""; // the same file may be chosen twice
  chooser.click();
});

for (const chooser of [picture, storedPicture]) chooser?.addEventListener("change", () => endTurn(chooser.files[0]));

async function endTurn(file) {
  if (!file) return;
  dialog.close();
  const output = panel.querySelector("output");
  for (const button of buttons()) button.disabled = true;
  output.textContent = picture.dataset.sending;
  output.classList.add("progress");
  try {
    const why = await sendPicture(await shrinkPicture(file), file.name);
    if (why === null) return;
    output.textContent = why;
  } catch {
    output.textContent = picture.dataset.unreadable;
  }
  output.classList.remove("progress");
  refresh();
}

// Sends a picture for the turn that was shown at the tap, until the table has it; returns why it was refused, or null
// if another picture has taken its place.
async function sendPicture(blob, name) {
  const body = new FormData();
  body.append("csrf", panel.elements.csrf.value);
  body.append("seen", seenAtTap);
  if (isAgain) {
    body.append("again", "1");
    body.append("question_id", questionAtTap);
  }
  body.append("picture", blob, name);
  const number = ++newestPicture;
  for (;;) {
    try {
      const answer = await fetch("/actions/picture", { method: "POST", body });
      return answer.ok || answer.status === UNUSABLE ? "" : (await answer.text()).trim();
    } catch {
      panel.querySelector("output").textContent = picture.dataset.lost;
      refresh(); // another picture may be taken meanwhile
      await new Promise((resolve) => setTimeout(resolve, RESEND_MS));
      if (number !== newestPicture) return null;
    }
  }
}

// Returns the picture upright, its longer side at most LONG_SIDE_PX. No canvas of the camera's full size is made: old
// phones have no memory for it. Throws if the browser cannot decode the picture (HEIC, for example).
async function shrinkPicture(file) {
  const image = await loadImage(file);
  try {
    const { naturalWidth: width, naturalHeight: height } = image;
    const scale = Math.min(1, LONG_SIDE_PX / Math.max(width, height));
    if (scale === 1 && SENT_AS_TAKEN.includes(file.type)) return file;
    return await encode(file, image, Math.round(width * scale), Math.round(height * scale));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

async function loadImage(file) {
  const image = new Image();
  const isLoaded = new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = reject;
  });
  image.src = URL.createObjectURL(file);
  await isLoaded;
  return image;
}

async function encode(file, image, width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d", { alpha: false });
  context.imageSmoothingQuality = "high";
  let source = image; // upright by the browser
  try {
    const options = { imageOrientation: "from-image", resizeWidth: width, resizeHeight: height, resizeQuality: "high" };
    source = await createImageBitmap(file, options);
  } catch {
    // an older browser: the image is scaled as it is drawn
  }
  context.drawImage(source, 0, 0, width, height);
  source.close?.();
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
  canvas.width = canvas.height = 0; // frees the memory at once
  return blob;
}
