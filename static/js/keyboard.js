// Keys on the board. Never inside fields, never together with Ctrl, Alt or ⌘.
import { cancel, carry, isLifted, lift, setDown } from "./lift.js";
import { cardById, cardsOf, columnOf, focusCard, mayChange, openLists } from "./moves.js";
import { openMenu } from "./move_menu.js";
import { openQuickAdd } from "./quick_add.js";

const STEPS = {
  ArrowLeft: [-1, 0], h: [-1, 0], ArrowRight: [1, 0], l: [1, 0],
  ArrowUp: [0, -1], k: [0, -1], ArrowDown: [0, 1], j: [0, 1],
};
// A dialog that was just closed keeps the focus until the page is drawn again.
const FIELDS = "input, textarea, select, [contenteditable], dialog[open]";
// An arrow in an open menu or on another control is that control's.
const CONTROLS = "button, summary, details[open], [role='menu'], [role='listbox']";
let last = null;

const focused = () => document.activeElement.closest("[data-card]");

function walk([across, along]) {
  const card = focused() ?? cardById(last);
  if (!card || card.closest(".is-folded")) {
    focusCard(openLists().flatMap(cardsOf)[0]);
    return;
  }
  if (along) {
    const cards = cardsOf(card.parentElement);
    focusCard(cards[cards.indexOf(card) + along]);
    return;
  }
  const lists = openLists();
  const at = cardsOf(card.parentElement).indexOf(card);
  const start = lists.indexOf(card.parentElement);
  for (let i = start + across; lists[i]; i += across) {
    const cards = cardsOf(lists[i]);
    if (cards.length === 0) continue;
    focusCard(cards[Math.min(at, cards.length - 1)]);
    return;
  }
}

function newCard() {
  const here = focused() ?? cardById(last);
  const column =
    document.activeElement.closest("[data-column]") ?? (here && columnOf(here));
  openQuickAdd(column ?? document.querySelector("[data-column]"));
}

function goToSearch() {
  document.querySelector("[data-search], .board-page input[type='search']")?.focus();
}

function showShortcuts() {
  document.getElementById("shortcuts")?.showModal();
}

function onLifted(event) {
  const step = STEPS[event.key];
  if (step) carry(...step);
  else if (event.key === " " || event.key === "Enter") setDown();
  else if (event.key === "Escape" || event.key === "Tab") cancel();
  event.preventDefault();
  event.stopPropagation();
}

function onCard(event, card) {
  const control = event.target.closest(CONTROLS);
  if (event.key === " " && !control && mayChange()) lift(card);
  else if (event.key === "m" && mayChange()) openMenu(card);
  else return false;
  return true;
}

function undo() {
  [...document.querySelectorAll("#toasts .toast button")].at(-1)?.click();
}

const ANYWHERE = { n: newCard, u: undo, "/": goToSearch, "?": showShortcuts };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isLifted()) return void onLifted(event);
  if (event.defaultPrevented || event.target.closest(FIELDS)) return;
  if (document.querySelector("dialog[open], [data-drawer]")) return;
  const card = focused();
  if (card && onCard(event, card)) event.preventDefault();
  else if (STEPS[event.key] && !event.target.closest(CONTROLS)) {
    walk(STEPS[event.key]);
    event.preventDefault();
  } else if (ANYWHERE[event.key]) {
    ANYWHERE[event.key]();
    event.preventDefault();
  }
});

document.addEventListener("focusin", (event) => {
  const card = event.target.closest("[data-card]");
  if (!card) return;
  last = card.dataset.card;
  const link = card.querySelector("a[href]") ?? card;
  if (mayChange()) link.setAttribute("aria-describedby", "card-hint");
});

// What the command palette offers on a board.
document.addEventListener("do:new", newCard);
document.addEventListener("do:search", goToSearch);
document.addEventListener("do:shortcuts", showShortcuts);
