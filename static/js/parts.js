// The sheet's parts ([data-part] with an id): each is replaced by what the server has
// now, except where somebody is typing. Nothing typed is ever swapped away.
import { restore } from "./draft.js";
import { localize } from "./local_times.js";

const bases = new WeakMap();
const sources = new WeakMap();
const NOT_TYPED = new Set(["csrfmiddlewaretoken", "version", "seen", "next"]);
const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;

const partsOf = (root) => [...root.querySelectorAll("[data-part]")];
const sourceOf = (part) => part.outerHTML.replace(TOKEN, "");

export function typed(part) {
  const forms = [...part.querySelectorAll("form")];
  return JSON.stringify(
    forms.map((form) => [...new FormData(form)].filter(([name]) => !NOT_TYPED.has(name))),
  );
}

export const isDirty = (part) => typed(part) !== bases.get(part);

function isBusy(part) {
  const field = part.contains(document.activeElement) &&
    document.activeElement.matches("input, textarea, select");
  return field || isDirty(part) || part.querySelector("details:is(.menu, .ask)[open]");
}

export function mark(part) {
  part.classList.toggle("is-dirty", isDirty(part));
}

export function adopt(root) {
  const parts = root.matches("[data-part]") ? [root] : partsOf(root);
  for (const part of parts) {
    sources.set(part, sourceOf(part));
    bases.set(part, typed(part));
  }
  restore(root);
  parts.forEach(mark);
}

function keepOpen(old, fresh) {
  for (const one of fresh.querySelectorAll("details[data-keep]")) {
    const before = old.querySelector(`details[data-keep="${one.dataset.keep}"]`);
    if (before && !before.matches(".menu")) one.open = before.open;
  }
}

function swap(old, fresh) {
  const focused = old.contains(document.activeElement) && document.activeElement.id;
  keepOpen(old, fresh);
  old.replaceWith(fresh);
  adopt(fresh);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function rebase(old, fresh) {
  const selector = "input[name='version'], input[name='seen']";
  const now = [...fresh.querySelectorAll(selector)];
  [...old.querySelectorAll(selector)].forEach((input, i) => {
    if (now[i]) input.value = now[i].value;
  });
  bases.set(old, typed(fresh));
}

// `saved`: the part that was just saved; `refused`: the one whose save the server
// answers with the typed text in it, which is unsaved still.
export function patch(html, { saved = null, refused = null } = {}) {
  const sheet = document.getElementById("sheet");
  const page = new DOMParser().parseFromString(html, "text/html");
  localize(page);
  const fresh = page.getElementById("sheet");
  if (!sheet || !fresh || fresh.dataset.sheet !== sheet.dataset.sheet) return;
  const names = (root) => partsOf(root).map((part) => part.id).join();
  if (names(sheet) !== names(fresh) && !refused && !partsOf(sheet).some(isBusy)) {
    const folded = [...sheet.querySelectorAll("details[data-keep]")];
    swap(sheet, document.adoptNode(fresh));
    for (const one of folded) {
      const now = document.querySelector(`#sheet [data-keep="${one.dataset.keep}"]`);
      if (now && !one.matches(".menu, .ask")) now.open = one.open;
    }
    document.getElementById("sheet").dataset.live = "";
    return;
  }
  sheet.dataset.version = fresh.dataset.version;
  for (const part of partsOf(fresh)) {
    const old = document.getElementById(part.id);
    if (!old || old.dataset.expanded || sources.get(old) === sourceOf(part)) continue;
    const isTaken = old === saved ? isDirty(old) : isBusy(old);
    if (old === refused || !isTaken) swap(old, document.adoptNode(part));
    else if (old === saved) rebase(old, part);
  }
  const again = refused && document.getElementById(refused.id);
  if (again) {
    bases.set(again, "");
    mark(again);
  }
}
