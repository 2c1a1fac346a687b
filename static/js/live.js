// The board's socket: frames in, and the page made right again after every gap. Where
// no socket comes through, the page asks every 3 s and says so.
import { patch } from "./patch.js";
import { refresh, refreshWithin, signIn } from "./refresh.js";

const POLL_MS = 3000;
const SILENCE_MS = 25000;
const NAP_MS = 15000;
const FIRST_MS = 400;
const LONGEST_MS = 15000;
const FILTER_MS = 400;
// When a board's role for everybody changes, all their pages are loaded anew.
const RELOAD_MS = 2000;
const page = document.querySelector("[data-board][data-live]");
const notice = document.querySelector("[data-live-notice]");
const wall = () => document.getElementById("columns");
let socket = null;
let failures = 0;
let polling = 0;
let reconnecting = 0;
let filtering = 0;
let heard = Date.now();
let snapshot = wall().dataset.snapshot;

function connect() {
  clearTimeout(reconnecting);
  const query = new URLSearchParams({ since: snapshot, role: page.dataset.role });
  socket = new WebSocket(`${page.dataset.live}?${query}`);
  socket.addEventListener("message", (event) => hear(JSON.parse(event.data)));
  socket.addEventListener("close", lost);
}

function hear(frame) {
  heard = Date.now();
  failures = 0;
  stopPolling();
  snapshot = frame.cursor || snapshot;
  if (frame.resync) refreshWithin(frame.within_ms ?? 0);
  else if (!("filtered" in wall().dataset)) patch(frame);
  else filtered(frame);
}

// Which cards match only the server knows: ask it once for many changes.
function filtered(frame) {
  patch({ server_time: frame.server_time, leases: frame.leases });
  if (!(frame.cards?.length || frame.layout) || filtering) return;
  filtering = setTimeout(() => {
    filtering = 0;
    refresh();
  }, FILTER_MS);
}

function lost({ target, code }) {
  if (target !== socket) return;
  if (code === 4401) window.location.assign(signIn());
  else if (code === 4403) window.location.reload();
  else if (code === 4409) setTimeout(() => window.location.reload(), Math.random() * RELOAD_MS);
  else again();
}

function again() {
  failures += 1;
  if (failures > 1) startPolling();
  const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
  reconnecting = setTimeout(connect, delay * (0.5 + Math.random()));
}

function startPolling() {
  if (polling) return;
  tell("off");
  const ask = async () => {
    if (!document.hidden) tell((await refresh()) ? "off" : "lost");
  };
  polling = setInterval(ask, POLL_MS);
  ask();
}

function stopPolling() {
  clearInterval(polling);
  polling = 0;
  notice.hidden = true;
}

function tell(name) {
  if (!polling && name === "lost") return;
  notice.querySelector("span").textContent = notice.dataset[name];
  notice.hidden = false;
}

function renew() {
  const old = socket;
  socket = null;
  old?.close();
  failures = 0;
  connect();
}

// Awake again, or back from the browser's memory: what was missed comes at once.
function wake() {
  if (document.hidden) return;
  const asleep = Date.now() - heard > NAP_MS;
  if (asleep || socket?.readyState !== WebSocket.OPEN) {
    renew();
    refresh();
  }
}

let ticked = Date.now();
setInterval(() => {
  const slept = Date.now() - ticked > NAP_MS;
  ticked = Date.now();
  if (slept) wake();
  else if (socket?.readyState === WebSocket.OPEN && Date.now() - heard > SILENCE_MS) renew();
}, 5000);
document.addEventListener("visibilitychange", wake);
window.addEventListener("online", wake);
window.addEventListener("pageshow", (event) => event.persisted && wake());
// A page that is left lets go of its socket, and may be kept by the browser.
window.addEventListener("pagehide", () => socket?.close());
connect();
