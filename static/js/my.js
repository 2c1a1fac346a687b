// My tasks, live: forms are sent without leaving the page, and what the server has now
// takes the place of what is shown. What somebody is writing is never swapped away.
import { forget } from "./draft.js";
import { localize } from "./local_times.js";
import { fetchPart, words } from "./moves.js";
import { adopt, gone, isBusy, isWritten, settled } from "./my_panel.js";
import { released } from "./press.js";
import "./json_editor.js";

const PATIENCE_MS = 200;
const REST_MS = 1000;
const page = document.querySelector("[data-my]");
const my = () => document.getElementById("my");
const now = () => document.getElementById("my-now");
let chosen = new URLSearchParams(window.location.search).get("task") ?? "";
let waiting = 0;
let asked = 0;
let last = 0;
let forced = 0;

export async function refresh({ force = false, task = chosen } = {}) {
  clearTimeout(waiting);
  waiting = 0;
  // News never overtake what the person has just done: they would bring the answer to it,
  // but not put it where the panel still looks busy.
  if (forced && !force) return later(REST_MS);
  last = Date.now();
  const turn = ++asked;
  const kept = now() && isWritten(now()) && !force ? now().dataset.now : task;
  forced += force;
  const reply = await fetchPart(kept ? `${page.dataset.my}?task=${kept}` : page.dataset.my);
  await released();
  forced -= force;
  if (reply.ok && turn === asked) merge(reply.html, force);
}

function merge(html, force = false) {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("my");
  if (!fresh) return;
  localize(fresh);
  const old = my();
  if (!force && (document.body.dataset.dragging || old.querySelector(".my-rail .menu[open]"))) {
    later(REST_MS);
    return;
  }
  const panel = now();
  const freshPanel = fresh.querySelector("#my-now");
  const known = [...old.querySelectorAll("[data-row], [data-now]")].map((one) => one.dataset.row ?? one.dataset.now);
  const isKept = !force && panel && isBusy(panel, freshPanel);
  const focus = keep(old);
  if (isKept) {
    const rail = fresh.querySelector("#my-rail");
    if (rail) old.querySelector("#my-rail").replaceWith(document.adoptNode(rail));
    if (freshPanel?.dataset.now !== panel.dataset.now) gone(panel);
  } else {
    old.replaceWith(document.adoptNode(fresh));
    adopt(my());
  }
  settle(focus, known, isKept);
}

function keep(old) {
  const active = document.activeElement;
  const row = old.contains(active) ? active.closest("[data-row]")?.dataset.row : null;
  const isOpen = old.querySelector("#my-later")?.open ?? false;
  return { row, id: old.contains(active) ? active.id : "", isOpen };
}

function settle({ row, id, isOpen }, known, isKept) {
  const later = document.getElementById("my-later");
  if (later) later.open = isOpen;
  const again = row
    ? document.querySelector(`[data-row="${row}"] [data-choose]`)
    : isKept ? null : document.getElementById(id);
  again?.focus({ preventScroll: true });
  for (const one of my().querySelectorAll("[data-rows] > [data-row]")) {
    if (known.length && !known.includes(one.dataset.row) && !one.closest("#my-later")) {
      one.classList.add("is-new");
      document.getElementById("announcer").textContent =
        words("new").replace("{title}", one.querySelector(".row-title").textContent);
    }
  }
  window.htmx?.process(my());
  document.dispatchEvent(new CustomEvent("novum:changed", { detail: { cards: [] } }));
}

function later(ms) {
  waiting ||= setTimeout(refresh, ms);
}

export function choose(task) {
  chosen = task;
  const url = task ? `${page.dataset.my}?task=${task}` : page.dataset.my;
  window.history.replaceState(window.history.state, "", url);
  if (now() && isWritten(now())) delete now().dataset.unsaved;
  return refresh({ force: true });
}

async function send(form, submitter) {
  if (form.dataset.sending !== undefined) return;
  form.dataset.sending = "";
  const reply = await fetchPart(form.action, { method: "POST", body: new FormData(form, submitter) });
  delete form.dataset.sending;
  if (reply.ok) {
    forget(form);
    settled(form);
    await sent(form);
  } else if (reply.status === 422 && reply.html.includes('id="my"')) {
    merge(reply.html, true);
    now()?.querySelector("[aria-invalid='true'], [role='alert']")?.focus();
  } else if (reply.status === 409 || reply.status === 404) {
    // Somebody else was faster: the toast says who.
    await refresh({ force: form.matches("[data-start]") });
  }
}

async function sent(form) {
  if (form.matches("[data-adds]")) {
    form.reset();
    form.closest("details").open = false;
  }
  const stays = form.matches("[data-start], .now-priority");
  const task = stays ? now()?.dataset.now : "";
  const isOfPanel = form.closest("#my-now") !== null;
  if (isOfPanel && !stays) choose("");
  else await refresh({ force: isOfPanel, task: task || chosen });
  if (form.matches("[data-start]")) document.dispatchEvent(new CustomEvent("novum:started"));
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-my-form]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-choose]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  choose(link.dataset.choose).then(() => {
    if (window.matchMedia("(max-width: 900px)").matches) now()?.scrollIntoView({ block: "start" });
  });
});
document.addEventListener("novum:news", () => {
  later(Math.max(PATIENCE_MS, REST_MS - (Date.now() - last)));
});
page.dataset.scripted = "";
adopt(my());
