// Sends what moves, adds or puts away cards, and shows what the server made of it.
import { ask } from "./confirm.js";
import { show } from "./toast.js";

// Without a live update by then, the page asks by itself.
const PATIENCE_MS = 1500;
let waiting = 0;

export const words = (name) => document.getElementById("announcer")?.dataset[name] ?? "";
export const columnOf = (card) => card.closest("[data-column]");
export const cardById = (id) => document.getElementById(`card-${id}`);
// Quick add is on the page of those who may change the board, and only there.
export const mayChange = () => document.querySelector("[data-quick-add]") !== null;
export const moveUrl = (card) => card.querySelector("[data-move-menu]")?.href;

export async function fetchPart(url, options = {}) {
  const inherited = document.body.getAttribute("hx-headers:inherited");
  const headers = { ...JSON.parse(inherited ?? "{}"), "HX-Request": "true" };
  try {
    const reply = await fetch(url, { ...options, headers, redirect: "error" });
    const html = await reply.text();
    const away = reply.headers.get("HX-Redirect");
    if (away) window.location.assign(away);
    tell(reply.headers.get("HX-Trigger"));
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
    const answer = await ask(reply.html);
    if (!answer) return false;
    reply = await fetchPart(answer.action, { method: "POST", body: answer.fields });
  }
  if (reply.ok) {
    place(reply.html);
    clearTimeout(waiting);
    waiting = setTimeout(refresh, PATIENCE_MS);
  } else if (reply.status) {
    await refresh();
  }
  return reply.ok;
}

function place(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const one of page.querySelectorAll("[data-into]")) {
    put(document.adoptNode(one.firstElementChild), one.dataset.into);
  }
}

function put(card, column) {
  const shown = document.getElementById(card.id);
  if (shown && Number(shown.dataset.version) > Number(card.dataset.version)) return;
  const list = document.querySelector(`[data-cards="${column}"]`);
  const focused = shown?.contains(document.activeElement);
  shown?.remove();
  if (!list) return;
  const cards = [...list.querySelectorAll(":scope > [data-card]")];
  const next = cards.find((other) => other.dataset.order > card.dataset.order);
  if (next) next.before(card);
  else if (cards.length) cards.at(-1).after(card);
  else list.prepend(card);
  window.htmx?.process(card);
  if (focused) focusCard(card);
}

export function focusCard(card) {
  if (!card) return;
  const link = card.querySelector("a[href]");
  if (!link) card.tabIndex = -1;
  (link ?? card).focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest", inline: "nearest" });
}

export async function refresh() {
  clearTimeout(waiting);
  if (document.body.dataset.dragging) {
    waiting = setTimeout(refresh, PATIENCE_MS);
    return;
  }
  const target = document.getElementById("columns");
  const reply = await fetchPart(window.location.href);
  if (!reply.ok || !target) return;
  const text = reply.html;
  await window.htmx.swap({ text, target, sourceElement: target, swap: "outerMorph" });
}

document.addEventListener("novum:changed", () => clearTimeout(waiting));
document.addEventListener("archived", (event) => cardById(event.detail.card)?.remove());
