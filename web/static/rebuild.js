// The score sheet of a game that is rebuilt: Enter goes to the next cell, and the last row is followed by another one.
// The number pad of some phones has no minus sign, so a button changes the sign of the cell.
"use strict";

const sheet = document.querySelector(".rebuild .sheet");
const columns = sheet.querySelectorAll("[name=players]").length;
const sign = sheet.querySelector(".sign");

function addRow() {
  const number = sheet.querySelectorAll("[name=score]").length / columns + 1;
  for (const part of [...sheet.children].slice(-columns - 1)) {
    const added = part.cloneNode();
    if (part.name === "score") {
      added.value = "";
      added.setAttribute("aria-label", part.getAttribute("aria-label").replace(/\d+$/, number));
    } else added.textContent = number;
    sheet.append(added);
  }
}

sheet.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target === sign) return;
  event.preventDefault();
  const fields = [...sheet.querySelectorAll("input")];
  fields[fields.indexOf(event.target) + 1]?.focus();
});

let cell = sheet.querySelector("[name=score]");

sheet.addEventListener("focusin", (event) => {
  if (event.target.name !== "score") return;
  cell = event.target;
  if ([...sheet.querySelectorAll("[name=score]")].slice(-columns).includes(cell)) addRow();
});

sign.addEventListener("click", () => {
  cell.value = (/^[-–−]/.test(cell.value) ? "+" : "−") + cell.value.replace(/^[-–−+]/, "");
  cell.focus();
});
