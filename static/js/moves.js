// Sends what moves, adds or puts away cards, and shows what the server made of it.
import { ask } from "./confirm.js";
import { putCard } from "./patch.js";
import { refresh } from "./refresh.js";
import { show } from "./toast.js";

// Without a live update by then, the page asks by itself.
const PATIENCE_MS = 1500;
let waiting = 0;

export const words = (name) => document.getElementById("announcer")?.dataset[name] ?? "";
export const columnOf = (card) => card.closest("[data-column]");
export const cardById = (id) => document.getElementById(`card-${id}`);
export const mayChange = () => document.querySelector("#columns[data-may-edit]") !== null;
export const cardsOf = (list) => [...list.querySelectorAll(":scope > [data-card]")];
// From left to right, without those that are folded away.
export const openLists = () =>
  [...document.querySelectorAll("[data-cards]")].filter((one) => !one.closest(".is-folded"));
export const moveUrl = (card) => card.querySelector("[data-move-menu]")?.href;

export async function fetchPart(url, options = {}) {
  const inherited = document.body.getAttribute("hx-headers:inherited");
  const headers = { ...JSON.parse(inherited ?? "{}"), "HX-Request": "true" };
  try {
    const reply = await fetch(url, { ...options, headers, redirect: "error" });
    const html = await reply.text();
    const away = reply.headers.get("HX-Redirect");
    const events = reply.headers.get("HX-Trigger");
    if (away) window.location.assign(away);
    else if (reply.status >= 500 && !events) show(words("failed"), { problem: true });
    tell(events);
    return { ok: reply.ok, status: reply.status, html };
  } catch {
    show(words("offline"), { problem: true });
    return { ok: false, status: 0, html: "" };
  }
}

function tell(events) {
  for (const [name, detail] of Object.entries(JSON.parse(events ?? "{}"))) {
    document.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

// True when it was done. Asks first when the card is being worked on; what was refused
// leaves the page as the server has it.
export async function perform(url, fields) {
  let reply = await fetchPart(url, { method: "POST", body: fields });
  if (reply.status === 409 && reply.html) {
    // However long the answer takes: the page stays live meanwhile.
    delete document.body.dataset.dragging;
    const answer = await ask(reply.html);
    if (!answer) return false;
    reply = await fetchPart(answer.action, { method: "POST", body: answer.fields });
  }
  if (reply.ok) {
    place(reply.html);
    clearTimeout(waiting);
    waiting = setTimeout(readAgain, PATIENCE_MS);
  } else if (reply.status) {
    // Not awaited: it waits in its turn for the end of a drag.
    readAgain();
  }
  return reply.ok;
}

const readAgain = () => document.getElementById("columns") && refresh();

function place(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const { dataset, firstElementChild: card } of page.querySelectorAll("[data-into]")) {
    const { card: id, order } = card.dataset;
    putCard({ id, order, column: dataset.into, html: card.outerHTML });
  }
}

export function focusCard(card) {
  if (!card) return;
  const link = card.querySelector("a[href]");
  if (!link) card.tabIndex = -1;
  (link ?? card).focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest", inline: "nearest" });
}

document.addEventListener("novum:changed", () => clearTimeout(waiting));
document.addEventListener("archived", (event) => cardById(event.detail.card)?.remove());
