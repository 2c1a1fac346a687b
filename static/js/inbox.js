// Messages, live and read on the spot.
import { fetchPart } from "./moves.js";
import { released } from "./press.js";

const inbox = () => document.getElementById("inbox");

async function refresh() {
  const reply = await fetchPart(window.location.href);
  await released();
  if (reply.ok) inbox().innerHTML = reply.html;
}

async function send(form) {
  const reply = await fetchPart(form.action, { method: "POST", body: new FormData(form) });
  if (!reply.ok) return;
  const row = form.closest("[data-message]");
  const next = row?.nextElementSibling?.dataset.message;
  await refresh();
  const again = next && document.querySelector(`[data-message="${next}"] button`);
  (again ?? inbox().querySelector("h1"))?.focus?.();
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-inbox]")) return;
  event.preventDefault();
  send(event.target);
});
// Who follows the link has read it.
document.addEventListener("click", (event) => {
  const form = event.target.closest("[data-reads]")?.closest("[data-message]")?.querySelector("form");
  if (form) fetch(form.action, { method: "POST", body: new FormData(form), keepalive: true });
});
document.addEventListener("novum:unread", () => {
  if (!inbox().contains(document.activeElement)) refresh();
});
