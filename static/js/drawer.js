// A card over the board: links with data-card-link open it, Escape, Back and a click
// beside it close it. The board behind is inert meanwhile, so the focus stays inside.
import { cardById, cardsOf, fetchPart, focusCard } from "./moves.js";
import { begin } from "./sheet.js";

const BEHIND = "body > :not(#drawer, #toasts, dialog, script)";
let opener = null;
let title = "";
const drawer = () => document.getElementById("drawer");

function make() {
  const host = document.createElement("div");
  host.id = "drawer";
  host.className = "drawer";
  host.dataset.drawer = "";
  host.tabIndex = -1;
  host.setAttribute("role", "dialog");
  host.setAttribute("aria-modal", "true");
  host.setAttribute("aria-labelledby", "sheet-title");
  document.body.append(host);
  return host;
}

async function open(url) {
  const reply = await fetchPart(url);
  if (!reply.ok) return false;
  const host = drawer() ?? make();
  host.innerHTML = reply.html;
  document.querySelectorAll(BEHIND).forEach((one) => (one.inert = true));
  begin();
  title ||= document.title;
  document.title = document.getElementById("sheet-title").textContent;
  host.focus({ preventScroll: true });
  return true;
}

function close() {
  const card = drawer().querySelector("[data-sheet]")?.dataset.sheet;
  drawer().remove();
  document.querySelectorAll(BEHIND).forEach((one) => (one.inert = false));
  delete document.body.dataset.behind;
  document.title = title;
  title = "";
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  else focusCard(cardById(card));
}

// The card above or below: as the board behind shows it, else as the column has it.
function neighbour(way) {
  const link = drawer().querySelector(`[data-go="${way}"]`);
  const card = cardById(drawer().querySelector("[data-sheet]").dataset.sheet);
  const cards = card ? cardsOf(card.parentElement) : [];
  const other = cards[cards.indexOf(card) + (way === "above" ? -1 : 1)];
  return other?.querySelector("[data-card-link]")?.href ?? link?.href;
}

async function go(way) {
  const url = neighbour(way);
  drawer().dataset.stepped = "";
  if (!url || !(await open(url))) return;
  window.history.replaceState({ drawer: url }, "", url);
  const card = cardById(drawer().querySelector("[data-sheet]").dataset.sheet);
  opener = card?.querySelector("[data-card-link]") ?? opener;
  card?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// The page behind is the previous entry of the history: go there, and popstate closes.
const leave = () => window.history.back();

document.addEventListener("click", async (event) => {
  const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
  const link = event.target.closest("a[data-card-link]");
  if (link && plain && !event.defaultPrevented && !document.querySelector(".card-page")) {
    event.preventDefault();
    const behind = window.location.href;
    opener = link;
    if (!(await open(link.href))) return;
    document.body.dataset.behind ??= behind;
    window.history.pushState({ drawer: link.href }, "", link.href);
  } else if (drawer() && plain && event.target.closest("#drawer [data-go]")) {
    event.preventDefault();
    go(event.target.closest("[data-go]").dataset.go);
  } else if (drawer() && plain && event.target.closest("#drawer [data-close]")) {
    event.preventDefault();
    leave();
  } else if (event.target === drawer()) {
    leave();
  }
});

const WAYS = { j: "below", k: "above" };
document.addEventListener("keydown", (event) => {
  if (!drawer() || !WAYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog[open]")) return;
  go(WAYS[event.key]);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !drawer() || event.defaultPrevented) return;
  if (document.querySelector("dialog[open], details.menu[open]")) return;
  const field = event.target.closest("#drawer :is(input, textarea, select)");
  // The first Escape leaves the field (its draft is kept), the next one the card.
  if (field) drawer().focus({ preventScroll: true });
  else leave();
}, true);

window.addEventListener("popstate", async (event) => {
  const url = event.state?.drawer;
  if (document.querySelector(".card-page")) window.location.reload();
  else if (url) await open(url);
  else if (drawer()) close();
});

if (document.getElementById("sheet")) begin();
