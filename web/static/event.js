// The page of an event is loaded again when its rounds have changed, unless it has forms that a user may be filling in.
"use strict";

function listRounds(names) {
  const rounds = names.filter((name) => name.startsWith("round-"));
  return rounds.sort().join();
}

document.addEventListener("news", ({ detail }) => {
  if (document.querySelector("main form")) return;
  const shown = [...document.querySelectorAll("main [id]")].map((part) => part.id);
  if (listRounds(shown) !== listRounds(Object.keys(detail.parts))) location.reload();
});
