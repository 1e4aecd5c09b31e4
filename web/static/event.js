// The page of an event is loaded again when its pairings have changed, unless the director is filling in a form.
"use strict";

function list(names, prefix) {
  return names.filter((name) => name.startsWith(prefix)).sort().join();
}

document.addEventListener("news", ({ detail }) => {
  const fields = [...document.querySelectorAll("main :is(input, textarea)")];
  if (fields.some((field) => field.value !== field.defaultValue)) return;
  const shown = [...document.querySelectorAll("main [id]")].map((part) => part.id);
  const { prefix } = document.querySelector("main").dataset;
  if (list(shown, prefix) !== list(Object.keys(detail.parts), prefix)) location.reload();
});
