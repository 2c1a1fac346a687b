// The person's socket, on every page: how many messages wait (the bell), and that cards
// have changed ("novum:news"), for the pages that show tasks.
const FIRST_MS = 500;
const LONGEST_MS = 15000;
const POLL_MS = 5000;
const SILENCE_MS = 25000;
// A board's own socket comes first.
const PATIENCE_MS = 1500;
const bell = document.getElementById("bell");
const shows = document.querySelector("[data-my], [data-tasks]");
const notice = shows?.querySelector("[data-live-notice]");
let socket = null;
let failures = 0;
let polling = 0;
let heard = 0;
let since = document.querySelector("#my, #states")?.dataset.snapshot ?? "";

function connect() {
  if (!bell || document.hidden) return;
  heard = Date.now();
  socket = new WebSocket(`${bell.dataset.socket}?${new URLSearchParams({ since })}`);
  socket.addEventListener("message", (event) => hear(JSON.parse(event.data)));
  socket.addEventListener("close", lost);
}

function hear({ cursor, cards = [], many = false, unread }) {
  heard = Date.now();
  bell.dataset.heard = "";
  failures = 0;
  stopPolling();
  since = cursor || since;
  if (unread !== undefined && unread !== null) ring(unread);
  if (cards.length || many) tell({ cards, many });
}

const tell = (detail) => document.dispatchEvent(new CustomEvent("novum:news", { detail }));

function ring(unread) {
  const count = bell.querySelector(".bell-count");
  const before = Number(count.dataset.count);
  if (before === unread) return;
  count.dataset.count = unread;
  count.textContent = unread > 99 ? "99+" : unread;
  count.hidden = !unread;
  const { one, none } = bell.dataset;
  bell.setAttribute("aria-label", unread ? one.replace("{n}", unread) : none);
  count.classList.toggle("is-new", unread > before);
  document.dispatchEvent(new CustomEvent("novum:unread", { detail: { unread } }));
}

function lost({ target, code }) {
  if (target !== socket) return;
  socket = null;
  if (code === 4401 || code === 4403) {
    const here = window.location.pathname + window.location.search;
    if (shows) window.location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
    return;
  }
  failures += 1;
  if (failures > 1 && shows && !polling) {
    notice.hidden = false;
    polling = setInterval(() => document.hidden || tell({ cards: [], many: true }), POLL_MS);
  }
  const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
  setTimeout(() => socket || connect(), delay * (0.5 + Math.random()));
}

function stopPolling() {
  clearInterval(polling);
  polling = 0;
  if (notice) notice.hidden = true;
}

function wake() {
  if (document.hidden) return;
  if (socket?.readyState === WebSocket.OPEN && Date.now() - heard < SILENCE_MS) return;
  const old = socket;
  socket = null;
  if (old?.readyState === WebSocket.OPEN) old.close();
  connect();
}

document.addEventListener("visibilitychange", wake);
window.addEventListener("online", wake);
window.addEventListener("pageshow", (event) => event.persisted && wake());
window.addEventListener("pagehide", () => socket?.readyState === WebSocket.OPEN && socket.close());
setInterval(() => socket?.readyState === WebSocket.OPEN && wake(), POLL_MS);
if (shows) connect();
else setTimeout(connect, PATIENCE_MS);
