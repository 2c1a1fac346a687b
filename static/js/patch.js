// Puts what the server pushed into the page. Waits while a card is being dragged, or the
// mouse is down.
import { renew, setServerTime } from "./countdown.js";
import { putLayout } from "./layout.js";
import { isPressed } from "./press.js";
import { focusIn, parse, settle, swap, swapHead } from "./swap.js";
import { placeOf, slide } from "./slide.js";

const HOLD_MS = 100;
const held = [];
let timer = 0;
let reading = 0;

export function patch(frame) {
  held.push(frame);
  if (!timer) flush();
}

// While the page is read anew, what is pushed waits: it may be younger than the answer.
// What is older does no harm, cards have versions.
export function holdWhile(work) {
  reading += 1;
  return work().finally(() => (reading -= 1));
}

function flush() {
  timer = 0;
  if (reading || document.body.dataset.dragging || isPressed()) {
    timer = setTimeout(flush, HOLD_MS);
    return;
  }
  while (held.length) apply(held.shift());
}

function apply({ server_time: time, cards = [], heads = [], leases = [], layout = null }) {
  setServerTime(time);
  if (layout) putLayout(layout);
  const places = new Map();
  for (const card of cards) {
    const shown = document.getElementById(`card-${card.id}`);
    if (shown) places.set(card.id, placeOf(shown));
  }
  const put = cards.map((card) => [card.id, putCard(card)]);
  heads.forEach(putHead);
  leases.forEach(renew);
  for (const [id, card] of put) if (card && places.has(id)) slide(card, places.get(id));
  if (cards.length || heads.length || layout) {
    const detail = { cards: cards.map((card) => card.id), layout: layout !== null };
    document.dispatchEvent(new CustomEvent("novum:changed", { detail }));
  }
}

function putHead({ id, html }) {
  const shown = document.querySelector(`[data-head="${id}"]`);
  if (shown) swapHead(shown, parse(html));
}

// Returns the card as it now stands, nothing where it isn't shown.
export function putCard({ id, column, order, html, gone }) {
  const shown = document.getElementById(`card-${id}`);
  const list = gone ? null : document.querySelector(`[data-cards="${column}"]`);
  const end = list?.querySelector(":scope > [data-more]");
  // Behind the last one that was loaded it will come by "show more".
  if (!list || (end && order > end.dataset.order)) {
    shown?.remove();
    return null;
  }
  const card = parse(html);
  if (shown && Number(shown.dataset.version) > Number(card.dataset.version)) return null;
  if (shown?.parentElement === list && shown.dataset.order === order) {
    return swap(shown, card);
  }
  const focus = shown ? focusIn(shown) : -1;
  shown?.remove();
  const cards = [...list.querySelectorAll(":scope > [data-card]")];
  const next = cards.find((other) => other.dataset.order > order);
  if (next) next.before(card);
  else if (cards.length) cards.at(-1).after(card);
  else list.prepend(card);
  return settle(card, focus);
}
