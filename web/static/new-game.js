// The form of a new game: colours of known players, the owner's word lists, and what the rules choose.
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
  if (!form) return;
  showPreset(form);
  offerOwnList(form);
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

// Offers the owner's list for the chosen tiles, if there is one.
function offerOwnList(form) {
  const own = form.elements.lexicon.querySelector("[value=own]");
  if (!own) return;
  const hint = form.querySelector("[data-own-lists]");
  const name = JSON.parse(hint.dataset.ownLists)[form.elements.tiles.value];
  own.hidden = own.disabled = !name;
  if (name) own.textContent = hint.dataset.own.replace("{value}", name);
}

function chooseList(form) {
  offerOwnList(form);
  const { lexicon } = form.elements;
  const own = lexicon.querySelector("[value=own]");
  if (lexicon.value !== "none") lexicon.value = own && !own.disabled ? "own" : "shipped";
}

// Shows the hint if the language has no included word list.
function warnOfNoList(form) {
  const hint = form.querySelector("[data-without-list]");
  const { lexicon, tiles } = form.elements;
  hint.hidden = lexicon.value !== "shipped" || !hint.dataset.withoutList.split(" ").includes(tiles.value);
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
