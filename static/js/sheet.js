// A card's sheet, in the drawer or a page: live, and its forms sent in place.
import { ask } from "./confirm.js";
import { forget } from "./draft.js";
import { localize } from "./local_times.js";
import { fetchPart } from "./moves.js";
import { adopt, isDirty, mark, patch, typed } from "./parts.js";
import { released } from "./press.js";
import "./json_editor.js";
import "./mentions.js";
import "./preview.js";
import "./sheet_buttons.js";

const PATIENCE_MS = 250;
const UNNAMED_MS = 2000;
let waiting = 0;
const sheet = () => document.getElementById("sheet");
const partOf = (element) => element.closest("#sheet [data-part]");

export function begin() {
  sheet().dataset.live = "";
  localize(sheet());
  adopt(sheet());
}

async function refresh(saved = null) {
  clearTimeout(waiting);
  waiting = 0;
  const url = sheet()?.dataset.url;
  if (!url) return;
  const reply = await fetchPart(url);
  await released();
  if (reply.ok && (saved || sheet()?.dataset.url === url)) patch(reply.html, { saved });
}

// Forms on their way, until the page has heard of it; `true`: to be saved once more.
const sending = new WeakMap();

async function send(form, submitter) {
  if (sending.has(form)) {
    sending.set(form, Boolean(form.dataset.save));
    return;
  }
  sending.set(form, false);
  const part = partOf(form);
  const said = typed(part);
  const post = (url, body) => fetchPart(url, { method: "POST", body });
  let reply = await post(form.action, new FormData(form, submitter));
  if (reply.status === 409 && reply.html && !reply.html.includes("data-sheet=")) {
    const answer = await ask(reply.html);
    reply = answer ? await post(answer.action, answer.fields) : { ok: false };
  }
  if (reply.ok) {
    forget(form);
    if (typed(part) === said) settle(part, form);
    await refresh(part);
  } else if (reply.html && reply.html.includes("data-sheet=")) {
    patch(reply.html, { refused: part });
  }
  const again = sending.get(form) && reply.ok && form.isConnected && isDirty(part);
  sending.delete(form);
  if (again) form.requestSubmit();
}

// Saved as it stands: the fields' present values are no longer a draft.
function settle(part, form) {
  for (const one of form.querySelectorAll("details, [name='text']")) {
    if (one.matches("[name='text']")) one.value = one.defaultValue;
  }
  const folded = form.closest("details:is(.ask, .menu, .editor, .comment-edit)");
  if (folded) {
    folded.open = false;
    folded.querySelector("summary").focus({ preventScroll: true });
  }
  adopt(part);
}

const saves = (form, when) => form?.dataset.save?.split(" ").includes(when);

function autosave(field, when) {
  const form = field.closest("form[data-sheet-form]");
  if (form && saves(form, when) && isDirty(partOf(form))) form.requestSubmit();
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("#sheet form[data-sheet-form]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
document.addEventListener("input", (event) => {
  const part = partOf(event.target);
  if (part) mark(part);
});
document.addEventListener("change", (event) => autosave(event.target, "change"));
document.addEventListener("focusout", (event) => autosave(event.target, "blur"));
document.addEventListener("reset", (event) => {
  if (!event.target.matches("#sheet form")) return;
  forget(event.target);
  event.target.closest("details:is(.editor, .comment-edit)")?.removeAttribute("open");
  setTimeout(() => mark(partOf(event.target)));
});
document.addEventListener("keydown", (event) => {
  const form = event.target.closest?.("#sheet form[data-save]");
  if (!form || event.key !== "Enter" || event.isComposing) return;
  const whole = (event.ctrlKey || event.metaKey) && saves(form, "ctrl-enter");
  const line = saves(form, "enter") && !event.shiftKey;
  if (whole || line) event.preventDefault();
  // What is saved already (a choice is at once) isn't sent once more.
  if (whole || (line && isDirty(partOf(form)))) form.requestSubmit();
});
document.addEventListener("undone", () => refresh());
document.addEventListener("novum:changed", ({ detail }) => {
  const isNamed = detail?.cards && !detail.layout;
  if (!sheet() || waiting || (isNamed && !detail.cards.includes(sheet().dataset.sheet))) return;
  // Without names it may be any card's: the busier it is, the rarer we ask.
  waiting = setTimeout(() => refresh(), isNamed ? PATIENCE_MS : UNNAMED_MS);
});
