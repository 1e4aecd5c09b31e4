// Shows as many tables as fit on the screen in the foyer, and then the next ones.
"use strict";

const PAGE_MS = 10000;
let page = 0;

function turnPage() {
  const list = document.querySelector(".tables");
  if (!list) return;
  for (const card of list.children) card.hidden = false;
  const cards = [...list.children].filter((card) => card.getClientRects().length);
  const { bottom } = list.parentElement.getBoundingClientRect();
  const fit = cards.filter((card) => card.getBoundingClientRect().bottom <= bottom).length || 1;
  const pages = Math.ceil(cards.length / fit);
  page = (page + 1) % pages;
  cards.forEach((card, i) => {
    card.hidden = Math.floor(i / fit) !== page;
  });
}

page = -1;
turnPage();
setInterval(turnPage, PAGE_MS);
addEventListener("resize", turnPage);
