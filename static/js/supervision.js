// What the pages about the fleet share. A part with `data-live-part` is read anew every
// `data-every` seconds and merged, unless somebody is in the middle of something there;
// filters go into the address as soon as they change; what is picked stays picked.
import { setServerTime, tick } from "./countdown.js";
import { localize } from "./local_times.js";
import { fetchPart } from "./moves.js";

const picked = new Set();
const parts = () => [...document.querySelectorAll("[data-live-part]")];
// An open menu or a field that somebody types in is never taken from under them.
const busy = (part) =>
  part.querySelector("details[open], dialog[open], :popover-open") ||
  (part.contains(document.activeElement) && document.activeElement.matches("input:not([type=checkbox]), select, textarea"));

async function refresh(part, address = window.location.href) {
  let reply;
  try {
    reply = await fetch(address, { headers: { "HX-Request": "true", "HX-Target": part.id }, cache: "no-store" });
  } catch {
    return;
  }
  const away = reply.headers.get("HX-Redirect");
  if (away) window.location.assign(away);
  const text = await reply.text();
  // Looked at last of all, so that nobody opens anything in between.
  if (!reply.ok || (busy(part) && address === window.location.href)) return;
  await window.htmx.swap({ text, target: part, sourceElement: part, swap: "outerMorph" });
  settle();
}

function settle() {
  for (const part of parts()) {
    localize(part);
    setServerTime(part.dataset.serverTime);
  }
  const shown = [...document.querySelectorAll("input[data-pick]")];
  const values = new Set(shown.map((box) => box.value));
  for (const one of picked) if (!values.has(one)) picked.delete(one);
  for (const box of shown) box.checked = picked.has(box.value);
  count();
  tick();
}

function count() {
  const all = [...document.querySelectorAll("input[data-pick]")];
  for (const box of document.querySelectorAll("[data-pick-all]")) {
    box.checked = all.length > 0 && picked.size === all.length;
    box.indeterminate = picked.size > 0 && picked.size < all.length;
  }
  for (const bar of document.querySelectorAll("[data-selection]")) {
    bar.hidden = !picked.size;
    for (const each of bar.querySelectorAll("[data-picked-count]")) each.textContent = picked.size;
  }
}

function pick(box) {
  if (box.checked) picked.add(box.value);
  else picked.delete(box.value);
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("input[data-pick]")) pick(target);
  else if (target.matches("[data-pick-all]")) {
    for (const box of document.querySelectorAll("input[data-pick]")) {
      box.checked = target.checked;
      pick(box);
    }
  } else {
    target.form?.matches("[data-filters]") && target.form.requestSubmit();
    return;
  }
  count();
});
// A button of a row: done where the reader is, and the page says what came of it.
async function act(form, submitter) {
  if (form.dataset.sending !== undefined) return;
  form.dataset.sending = "";
  const body = new FormData(form, submitter);
  const reply = await fetchPart(form.action, { method: "POST", body });
  delete form.dataset.sending;
  if (!reply.ok) return;
  for (const menu of document.querySelectorAll("[data-live-part] details[open]")) menu.open = false;
  document.dispatchEvent(new CustomEvent("novum:fleet"));
}

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-pick-none]")) return;
  picked.clear();
  settle();
});
document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  if (target.matches("form[data-act]")) {
    event.preventDefault();
    act(target, submitter);
    return;
  }
  if (!target.matches("[data-filters]")) return;
  // Nothing but what is set: addresses that people like to share.
  for (const field of target.elements) if (field.name && !field.value) field.disabled = true;
});
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("[data-filters] :disabled")) field.disabled = false;
});
setInterval(() => {
  if (document.hidden) return;
  const now = Date.now();
  for (const part of parts()) {
    part.readAt ??= now;
    if (busy(part) || now - part.readAt < Number(part.dataset.every || 5) * 1000) continue;
    part.readAt = now;
    refresh(part);
  }
}, 1000);
document.addEventListener("novum:fleet", () => parts().forEach((part) => refresh(part)));
document.addEventListener("visibilitychange", () => document.hidden || parts().forEach((part) => busy(part) || refresh(part)));
// j and k walk along the rows, x picks one; never inside fields.
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (target.closest("input:not([type=checkbox]), textarea, select, dialog[open], [contenteditable]")) return;
  const rows = [...document.querySelectorAll("[data-walk]")];
  const at = rows.indexOf(target.closest("[data-walk]"));
  if (key === "x" && at >= 0) rows[at].querySelector("input[data-pick]")?.click();
  const step = { j: 1, k: -1 }[key];
  const next = step && rows[at < 0 ? 0 : at + step];
  next?.querySelector("a[href]")?.focus();
});
for (const box of document.querySelectorAll("input[data-pick]:checked")) pick(box);
settle();
document.querySelector("main").dataset.scripted = "";
