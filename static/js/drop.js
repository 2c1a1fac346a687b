// A card has been put somewhere on the page: let the server do the same, relative to
// a neighbour. Refused, it goes back.
import { cardById, cardsOf, moveUrl, perform } from "./moves.js";

const priority = (card) => card.dataset.order.split(":")[0];

export function home(card) {
  return { list: card.parentElement, next: card.nextElementSibling };
}

export function putBack(card, { list, next }) {
  if (next?.parentElement === list) list.insertBefore(card, next);
  else list.append(card);
}

// One after the other: a neighbour may be a card that is itself still being saved.
let queue = Promise.resolve();

export function drop(card, from) {
  const list = card.parentElement;
  const still = list === from.list && card.nextElementSibling === from.next;
  if (still) return true;
  const fields = new FormData();
  fields.set("column", list.dataset.cards);
  for (const [name, value] of Object.entries(beside(card, list))) fields.set(name, value);
  const done = queue.then(() => send(card, fields, list, from));
  queue = done.catch(() => {});
  return done;
}

async function send(card, fields, list, from) {
  const now = cardById(card.dataset.card) ?? card;
  fields.set("version", now.dataset.version);
  const done = await perform(moveUrl(card), fields);
  if (!done && card.isConnected && card.parentElement === list) putBack(card, from);
  return done;
}

// A position counts among cards of the same priority only, so the anchor is one of
// these: the next to it, else the nearest.
function beside(card, list) {
  const cards = cardsOf(list);
  const at = cards.indexOf(card);
  const mine = priority(card);
  const above = cards.slice(0, at);
  const below = cards.slice(at + 1);
  const disordered =
    (at > 0 && priority(above.at(-1)) > mine) ||
    (below.length > 0 && priority(below[0]) < mine);
  const isPeer = (other) => priority(other) === mine;
  const before = below.find(isPeer);
  const after = above.findLast(isPeer);
  const said = disordered ? { disordered: "on" } : {};
  if (after && (after === above.at(-1) || !before)) said.after = after.dataset.card;
  else if (before) said.before = before.dataset.card;
  return said;
}
