// The columns as they are now: others, in another order, with another name or colour.
// Their cards stay where they are; what changed about those is pushed card by card.
import { refreshWithin } from "./refresh.js";
import { parse, swapHead } from "./swap.js";

// As many cards of a column as the server pushes when all of them may look otherwise.
const FIRST = 50;
const REREAD_MS = 2000;

export function putLayout({ name, switcher, columns }) {
  const row = document.querySelector("#columns > .columns");
  const title = document.querySelector("[data-board-name]");
  document.title = document.title.replace(title.textContent, name);
  title.textContent = name;
  document.getElementById("switcher").replaceWith(parse(switcher));
  row.querySelector(".board-empty")?.remove();
  const now = columns.map(putColumn);
  for (const old of row.querySelectorAll(":scope > [data-column]")) {
    if (!now.includes(old)) old.remove();
  }
  now.forEach((column, i) => row.children[i] === column || put(row, column, row.children[i]));
  if (columns.some(isLong)) refreshWithin(REREAD_MS);
}

const shownOf = (id) => document.querySelector(`[data-column="${id}"]`);

function putColumn({ id, html }) {
  const fresh = parse(html);
  const shown = shownOf(id);
  if (!shown) return fresh;
  if (fresh.dataset.color) shown.dataset.color = fresh.dataset.color;
  else delete shown.dataset.color;
  swapHead(shown.querySelector("[data-head]"), fresh.querySelector("[data-head]"));
  shown.querySelector(".column-empty").replaceWith(fresh.querySelector(".column-empty"));
  window.htmx?.process(shown);
  return shown;
}

// Without taking the column out of the page: it would forget how far it was scrolled.
function put(row, column, before = null) {
  if (column.isConnected && row.moveBefore) row.moveBefore(column, before);
  else {
    row.insertBefore(column, before);
    window.htmx?.process(column);
  }
}

const isLong = ({ id, reread }) =>
  reread && shownOf(id).querySelectorAll("[data-card]").length > FIRST;
