// Reads the board anew and merges it: the page then equals the server. One at a time;
// what asks meanwhile is answered by one more.
import { setServerTime } from "./countdown.js";
import { holdWhile } from "./patch.js";
import { isPressed } from "./press.js";

const RETRY_MS = 3000;
let running = null;
let again = false;

export function refresh() {
  if (running) {
    again = true;
    return running;
  }
  running = holdWhile(once).finally(() => {
    running = null;
    if (again) {
      again = false;
      refresh();
    }
  });
  return running;
}

// Some time in so many milliseconds, so that not all open pages come at once; and again
// and again until it has worked: what the page missed comes by nothing else.
export function refreshWithin(milliseconds) {
  const ask = async () => (await refresh()) || refreshWithin(RETRY_MS);
  setTimeout(ask, Math.random() * milliseconds);
}

const settled = () =>
  new Promise((resolve) => {
    const isBusy = () => document.body.dataset.dragging || isPressed();
    const look = () => (isBusy() ? setTimeout(look, 100) : resolve());
    look();
  });

function address() {
  const url = new URL(window.location.href);
  const lists = [...document.querySelectorAll("[data-cards]")];
  const longest = Math.max(0, ...lists.map((list) => list.childElementCount - 1));
  url.searchParams.set("shown", longest);
  // A card's own page lies over its board's.
  url.pathname = `/boards/${document.querySelector("[data-board]").dataset.board}`;
  return url;
}

// True when the page is the server's.
async function once() {
  let reply;
  try {
    reply = await fetch(address(), { headers: { "HX-Request": "true" }, cache: "no-store" });
  } catch {
    return false;
  }
  const away = reply.headers.get("HX-Redirect");
  if (away) window.location.assign(signIn());
  else if (reply.status === 404) window.location.reload();
  if (!reply.ok) return false;
  const text = await reply.text();
  await settled();
  await merge(text);
  return true;
}

export const signIn = () =>
  `/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`;

async function merge(text) {
  const target = document.getElementById("columns");
  const scrolled = [...document.querySelectorAll("[data-cards]")].map((list) => [
    list.id || list.dataset.cards,
    list.scrollTop,
  ]);
  await window.htmx.swap({ text, target, sourceElement: target, swap: "outerMorph" });
  for (const [id, top] of scrolled) {
    const list = document.querySelector(`[data-cards="${id}"]`);
    if (list && list.scrollTop !== top) list.scrollTop = top;
  }
  setServerTime(document.getElementById("columns").dataset.serverTime);
  document.dispatchEvent(new CustomEvent("novum:changed"));
}
