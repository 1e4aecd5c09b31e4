// The score sheet of a game that is rebuilt: Enter goes to the next cell, and the last row is followed by another one.
"use strict";

const sheet = document.querySelector(".rebuild .sheet");

function listCells() {
  return [...sheet.querySelectorAll("[name=score]")];
}

sheet.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  const fields = [...sheet.querySelectorAll("input")];
  fields[fields.indexOf(event.target) + 1]?.focus();
});

sheet.addEventListener("focusin", (event) => {
  const cells = listCells();
  const width = sheet.querySelectorAll("[name=players]").length;
  if (cells.indexOf(event.target) < cells.length - width) return;
  const row = String(cells.length / width + 1);
  for (const cell of cells.slice(-width)) {
    const added = cell.cloneNode();
    added.value = "";
    added.setAttribute("aria-label", cell.getAttribute("aria-label").replace(/\d+$/, row));
    sheet.append(added);
  }
});
