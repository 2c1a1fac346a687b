// The large task on My tasks: whether somebody is at it, so that it must stay as it is.
import { restore } from "./draft.js";
import { words } from "./moves.js";

const was = new WeakMap();

const fields = (root) => [...root.querySelectorAll("[data-draft]")];
export const isWritten = (panel) =>
  panel.dataset.unsaved !== undefined || fields(panel).some((one) => one.value !== was.get(one));

export function isBusy(panel, fresh) {
  if (isWritten(panel) || panel.querySelector(".now-ask[open]")) return true;
  if (panel.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")) return true;
  // Nobody shall start another task than the one they are pointing at.
  return fresh?.dataset.now !== panel.dataset.now && panel.matches(":hover, :focus-within");
}

export function adopt(root) {
  fields(root).forEach((one) => was.set(one, one.value));
  restore(root);
}

// What was sent is no longer a draft.
export function settled(form) {
  fields(form).forEach((one) => was.set(one, one.value));
  delete form.closest("[data-unsaved]")?.dataset.unsaved;
}

// The task is somebody else's now, or it's off: the text stays, to be copied at least.
export function gone(panel) {
  if (panel.querySelector("[data-gone]")) return;
  const note = document.createElement("p");
  note.className = "notice notice-failed";
  note.dataset.gone = "";
  note.setAttribute("role", "alert");
  note.textContent = words("gone");
  panel.prepend(note);
}
