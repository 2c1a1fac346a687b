// The Tasks page, live: what the server has now is merged card by card, so that what
// was loaded further below, the focus and the places scrolled to stay.
import { localize } from "./local_times.js";
import { fetchPart } from "./moves.js";
import { released } from "./press.js";
import { placeOf, slide } from "./slide.js";
import { swap } from "./swap.js";

const PATIENCE_MS = 200;
const REST_MS = 1000;
const page = document.querySelector("[data-tasks]");
const form = document.querySelector("[data-task-filters]");
const lists = (root) => [...root.querySelectorAll("[data-state]")];
const cardsOf = (list) => [...list.querySelectorAll(":scope > [data-card]")];
const nothing = () => ({ anew: false, cards: new Set() });
// What the next answer is to bring; one that was overtaken leaves it to the one after.
let owed = nothing();
let waiting = 0;
let last = 0;
let asked = 0;

const query = () =>
  new URLSearchParams([...new FormData(form)].filter(([, value]) => value)).toString();

async function refresh({ anew = false } = {}) {
  clearTimeout(waiting);
  waiting = 0;
  last = Date.now();
  const turn = ++asked;
  owed.anew ||= anew;
  const reply = await fetchPart(`${page.dataset.tasks}?${query()}`);
  await released();
  if (!reply.ok || turn !== asked) return;
  const { anew: isAnew, cards: said } = owed;
  owed = nothing();
  const fresh = new DOMParser().parseFromString(reply.html, "text/html").getElementById("states");
  localize(fresh);
  if (isAnew) document.getElementById("states").replaceWith(document.adoptNode(fresh));
  else merge(fresh, said);
  window.htmx?.process(document.getElementById("states"));
  document.dispatchEvent(new CustomEvent("novum:changed", isAnew ? {} : { detail: { cards: [...said] } }));
}

function merge(fresh, said) {
  const places = new Map();
  const shown = new Map();
  for (const card of document.querySelectorAll("#states [data-card]")) {
    shown.set(card.dataset.card, card);
    places.set(card.dataset.card, placeOf(card));
  }
  const known = new Set(cardsOf(fresh.querySelector(".columns")).map((card) => card.dataset.card));
  for (const list of lists(fresh)) cardsOf(list).forEach((card) => known.add(card.dataset.card));
  const focused = document.activeElement.closest("[data-card]")?.dataset.card;
  for (const list of lists(fresh)) put(list, shown, known, said);
  for (const badge of fresh.querySelectorAll("[data-total]")) {
    for (const old of document.querySelectorAll(`[data-total="${badge.dataset.total}"]`)) old.textContent = badge.textContent;
  }
  for (const [id, before] of places) {
    const card = document.getElementById(`card-${id}`);
    if (card) slide(card, before);
  }
  if (focused && !document.activeElement.closest("[data-card]")) {
    document.querySelector(`#card-${focused} a`)?.focus({ preventScroll: true });
  }
}

function put(fresh, shown, known, said) {
  const list = document.querySelector(`[data-state="${fresh.dataset.state}"]`);
  const cards = cardsOf(fresh).map((card) => current(shown.get(card.dataset.card), card));
  // Loaded by "show more": still there unless we hear otherwise.
  const older = list.dataset.extended
    ? cardsOf(list).filter(({ dataset: { card } }) => !known.has(card) && !said.has(card))
    : [];
  const more = list.dataset.extended ? list.querySelector(":scope > .more") : fresh.querySelector(":scope > .more");
  const wanted = [...cards, ...older, ...(more ? [more] : [])];
  wanted.forEach((one, i) => list.children[i] === one || list.insertBefore(one, list.children[i] ?? null));
  while (list.children.length > wanted.length) list.lastElementChild.remove();
}

function current(old, card) {
  if (!old) {
    card.classList.add("is-new");
    return card;
  }
  return old.dataset.version === card.dataset.version && old.className === card.className ? old : swap(old, card);
}

document.addEventListener("novum:news", ({ detail }) => {
  detail.cards.forEach((one) => owed.cards.add(one));
  waiting ||= setTimeout(refresh, Math.max(PATIENCE_MS, REST_MS - (Date.now() - last)));
});
document.addEventListener("htmx:after:swap", () => {
  for (const list of lists(document)) {
    const first = list.dataset.state === "done" || list.dataset.state === "failed" ? 30 : 50;
    if (cardsOf(list).length > first) list.dataset.extended = "1";
  }
});
form.addEventListener("change", () => {
  const text = query();
  window.history.replaceState(window.history.state, "", text ? `?${text}` : window.location.pathname);
  refresh({ anew: true });
});
document.addEventListener("submit", async (event) => {
  if (event.target.id !== "new-form") return;
  event.preventDefault();
  const adding = event.target;
  if (adding.dataset.sending !== undefined) return;
  adding.dataset.sending = "";
  const body = new FormData(adding);
  const reply = await fetchPart(adding.action, { method: "POST", body });
  delete adding.dataset.sending;
  if (reply.ok) {
    adding.reset();
    adding.closest("details").open = false;
    await refresh();
  } else if (reply.html.includes("new-form")) {
    adding.outerHTML = reply.html;
    document.querySelector("#new-form [aria-invalid='true']")?.focus();
  }
});
document.addEventListener("do:new", () => {
  document.getElementById("new").open = true;
  document.querySelector("#new input[name='title']").focus();
});
page.dataset.scripted = "";
