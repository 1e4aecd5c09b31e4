// The forms of a new game and of the table: colours of known players, the owner's word lists, what the rules choose.
"use strict";

document.addEventListener("change", (event) => {
  const field = event.target;
  const seat = field.closest?.(".seat");
  if (seat && field.name === "players") chooseColour(seat, field);
  if (seat && field.name === "colours") showColour(seat);
  if (field.name === "preset") showPreset(field.form);
  if (field.name === "tiles") chooseList(field.form);
  if (field.name === "tiles" || field.name === "lexicon") warnOfNoList(field.form);
});

document.addEventListener("prepare", (event) => {
  const form = event.target.querySelector(".new-game");
  if (form) showPreset(form);
});

// The colour of a player whom the table knows.
function chooseColour(seat, field) {
  const known = [...document.querySelectorAll("#names option")].find((option) => option.value === field.value.trim());
  const swatch = seat.querySelector("select");
  const taken = [...document.querySelectorAll(".seat select")].filter((other) => other !== swatch).map((other) => other.value);
  if (known?.dataset.colour && !taken.includes(known.dataset.colour)) swatch.value = known.dataset.colour;
  showColour(seat);
}

function showColour(seat) {
  const swatch = seat.querySelector(".swatch");
  swatch.className = `swatch c-${swatch.querySelector("select").value}`;
}

// Names the included list and the owner's list for the chosen tiles; the latter is offered only if there is one.
function nameLists(form) {
  const { ownLists, defaultLists, default: shipped } = form.querySelector("[data-own-lists]").dataset;
  const { lexicon, tiles } = form.elements;
  lexicon.querySelector("[value=shipped]").textContent = JSON.parse(defaultLists)[tiles.value] ?? shipped;
  const own = lexicon.querySelector("[value=own]");
  if (!own) return;
  own.textContent = JSON.parse(ownLists)[tiles.value] ?? "";
  own.hidden = own.disabled = !own.textContent;
}

function chooseList(form) {
  nameLists(form);
  const { lexicon } = form.elements;
  const own = lexicon.querySelector("[value=own]");
  if (lexicon.value !== "none") lexicon.value = own && !own.disabled ? "own" : "shipped";
}

// Shows the hint if the language has no included word list, and opens the upload, if the form has one.
function warnOfNoList(form) {
  const hint = form.querySelector("[data-without-list]");
  const { lexicon, tiles } = form.elements;
  hint.hidden = lexicon.value !== "shipped" || !hint.dataset.withoutList.split(" ").includes(tiles.value);
  const upload = form.querySelector("details.upload");
  if (upload && !hint.hidden) upload.open = true;
}

// Describes the chosen rules, and shows them in the fields that are not set.
function showPreset(form) {
  for (const about of form.querySelectorAll("[data-preset]")) {
    about.hidden = about.dataset.preset !== form.elements.preset.value;
    if (about.hidden) continue;
    for (const [name, choice] of Object.entries(JSON.parse(about.dataset.choices))) {
      const field = form.elements[name];
      const options = [...(field.options ?? [])];
      const value = options.find((option) => option.value === choice)?.text ?? choice;
      const text = form.dataset.asPreset.replace("{value}", value);
      if (options[0]?.value === "") options[0].text = text;
      else if (field.placeholder) field.placeholder = text;
    }
  }
}
