// Lets the chips count down against the server's clock, and the waiting cards.
// Amber: past 70 % of its time without a renewal (a healthy worker renews at a third).
const LATE = 0.3;
const TICK_MS = 500;
let offset = 0;

export function setServerTime(text, receivedAt = Date.now()) {
  const time = Date.parse(text);
  if (time) offset = time - receivedAt;
}

const secondsUntil = (text) => (Date.parse(text) - Date.now() - offset) / 1000;
const two = (number) => String(number).padStart(2, "0");

function words(seconds) {
  const s = Math.ceil(seconds);
  if (s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))}`;
  return `${Math.floor(s / 86400)} d`;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showChip(chip) {
  const left = secondsUntil(chip.dataset.expires);
  const lapsed = left <= 0;
  const late = !lapsed && left < Number(chip.dataset.seconds) * LATE;
  chip.classList.toggle("chip-lapsed", lapsed);
  chip.classList.toggle("chip-late", late);
  const time = chip.querySelector("[data-left]");
  if (!time) return;
  if (lapsed) write(time, chip.dataset.wordsLapsed);
  else write(time, late ? `${chip.dataset.wordsLate} ${words(left)}` : words(left));
}

function showWaiting(time) {
  const left = secondsUntil(time.dataset.until);
  write(time, left <= 0 ? time.dataset.due : time.dataset.in.replace("{left}", words(left)));
}

export function tick() {
  document.querySelectorAll("[data-lease][data-expires]").forEach(showChip);
  document.querySelectorAll("time[data-until]").forEach(showWaiting);
}

export function renew({ id, expires, renewals }) {
  const chip = document.querySelector(`[data-lease="${CSS.escape(id)}"]`);
  if (!chip) return;
  if (expires) chip.dataset.expires = expires;
  if (renewals > Number(chip.dataset.renewals)) pulse(chip);
  chip.dataset.renewals = renewals;
}

function pulse(chip) {
  chip.classList.remove("chip-pulse");
  chip.getBoundingClientRect();
  chip.classList.add("chip-pulse");
  setTimeout(() => chip.classList.remove("chip-pulse"), 1000);
}

const wall = document.getElementById("columns");
const [navigation] = performance.getEntriesByType("navigation");
if (wall && navigation) {
  // The time was written just before the first byte came.
  setServerTime(
    wall.dataset.serverTime,
    performance.timeOrigin + navigation.responseStart,
  );
}
tick();
setInterval(() => document.hidden || tick(), TICK_MS);
document.addEventListener("visibilitychange", tick);
document.addEventListener("novum:changed", tick);
