// A card in the hand of somebody at the keyboard: lifted, carried, dropped or put back,
// and each step said aloud.
import { drop, home, putBack } from "./drop.js";
import { cardsOf, columnOf, focusCard, openLists, words } from "./moves.js";

let lifted = null;
let from = null;

export const isLifted = () => lifted !== null;

export function say(kind, card) {
  const column = columnOf(card);
  const cards = cardsOf(card.parentElement);
  const facts = {
    title: card.querySelector(".card-title")?.textContent.trim() ?? "",
    column: column.querySelector("h2")?.textContent.trim() ?? "",
    n: cards.indexOf(card) + 1,
    total: cards.length,
  };
  const text = words(kind).replace(/\{(\w+)\}/g, (whole, name) => facts[name] ?? whole);
  document.getElementById("announcer").textContent = text;
}

export function lift(card) {
  lifted = card;
  from = home(card);
  document.body.dataset.dragging = card.dataset.card;
  card.dataset.lifted = "";
  say("lifted", card);
}

export function carry(across, along) {
  if (along) carryAlong(along);
  if (across) carryAcross(across);
  focusCard(lifted);
  say("stepped", lifted);
}

function carryAlong(step) {
  const cards = cardsOf(lifted.parentElement);
  const other = cards[cards.indexOf(lifted) + step];
  if (!other) return;
  if (step > 0) other.after(lifted);
  else other.before(lifted);
}

function carryAcross(step) {
  const lists = openLists();
  const list = lists[lists.indexOf(lifted.parentElement) + step];
  if (!list) return;
  const at = cardsOf(lifted.parentElement).indexOf(lifted);
  const there = cardsOf(list);
  if (there[at]) there[at].before(lifted);
  else if (there.length) there.at(-1).after(lifted);
  else list.prepend(lifted);
}

function letGo() {
  const card = lifted;
  lifted = null;
  delete card.dataset.lifted;
  return card;
}

export async function setDown() {
  const origin = from;
  const card = letGo();
  const id = card.id;
  try {
    const done = await drop(card, origin);
    const now = document.getElementById(id);
    if (now) say(done ? "dropped" : "cancelled", now);
    focusCard(now);
  } finally {
    delete document.body.dataset.dragging;
  }
}

export function cancel() {
  const origin = from;
  const card = letGo();
  putBack(card, origin);
  delete document.body.dataset.dragging;
  say("cancelled", card);
  focusCard(card);
}

// Who clicks elsewhere has lost interest in it.
document.addEventListener("pointerdown", () => lifted && cancel(), { capture: true });
