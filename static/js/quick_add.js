// Quick add: Enter adds and stays, Escape closes and keeps the draft, several pasted
// lines are several cards if wanted.
import { choose } from "./confirm.js";
import { cardById, perform } from "./moves.js";
import { show } from "./toast.js";

const key = (box) => `novum:draft:${box.dataset.quickAdd}`;
const boxOf = (element) => element.closest?.("[data-quick-add]");
const fieldOf = (box) => box.querySelector("input[name='title']");
// One after the other, so that the cards stand in the order in which they were typed.
let queue = Promise.resolve();
let added = null;

export function openQuickAdd(column) {
  const box = column?.querySelector("[data-quick-add]");
  if (!box) return;
  box.open = true;
  box.scrollIntoView({ block: "nearest", inline: "nearest" });
  fieldOf(box).focus();
}

function send(box, name, value) {
  const fields = new FormData();
  fields.set(name, value);
  queue = queue.then(async () => {
    const done = await perform(box.querySelector("form").action, fields);
    if (!done && name === "title") bringBack(box, value);
    if (done) showAdded();
    box.scrollIntoView({ block: "nearest" });
  });
}

// What was refused, or has led to the sign-in page, comes back, unless the next one is
// being typed already.
function bringBack(box, value) {
  const field = fieldOf(box);
  field.value ||= value;
  sessionStorage.setItem(key(box), field.value);
}

// A new card may stand behind the last one that was loaded: then it's only told.
function showAdded() {
  const last = cardById(added.cards.at(-1));
  last?.scrollIntoView({ block: "nearest" });
  if (!last || added.cards.length > 1) show(added.text);
}

document.addEventListener("added", (event) => (added = event.detail));

document.addEventListener("submit", (event) => {
  const box = boxOf(event.target);
  if (!box) return;
  event.preventDefault();
  const field = fieldOf(box);
  const title = field.value.trim();
  field.value = "";
  sessionStorage.removeItem(key(box));
  if (title) send(box, "title", title);
  field.focus();
});

document.addEventListener("paste", async (event) => {
  const box = boxOf(event.target);
  if (!box) return;
  const text = event.clipboardData.getData("text");
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (lines.length < 2) return;
  event.preventDefault();
  const field = fieldOf(box);
  const { several, each, one } = field.dataset;
  const counted = (words) => words.replace("{n}", lines.length);
  const choice = await choose(counted(several), { one, each: counted(each) });
  if (choice === "each") send(box, "titles", lines.join("\n"));
  else if (choice === "one") field.setRangeText(lines.join(" "), field.selectionStart, field.selectionEnd, "end");
  field.focus();
});

document.addEventListener("input", (event) => {
  const box = boxOf(event.target);
  if (box) sessionStorage.setItem(key(box), event.target.value);
});

document.addEventListener("keydown", (event) => {
  const box = boxOf(event.target);
  if (!box?.open || event.key !== "Escape") return;
  event.stopPropagation();
  box.open = false;
  box.querySelector("summary").focus();
});

// `toggle` doesn't bubble, but it can be caught on its way down.
document.addEventListener(
  "toggle",
  (event) => {
    const box = boxOf(event.target);
    if (box !== event.target || !box.open) return;
    const field = fieldOf(box);
    field.value ||= sessionStorage.getItem(key(box)) ?? "";
    field.focus();
  },
  { capture: true },
);
