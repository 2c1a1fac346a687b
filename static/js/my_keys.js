// Keys on My tasks: 1-3 choose, s starts, f goes to the result, n adds. Never in fields.
import { choose } from "./my.js";

const FIELDS = "input, textarea, select, [contenteditable], dialog";
let finishing = false;

function pick(number) {
  const row = [...document.querySelectorAll("[data-row]")].find(
    (one) => one.querySelector("kbd.row-key")?.textContent === number,
  );
  if (row) choose(row.dataset.row);
}

const start = () => document.querySelector("#my-now [data-start]")?.requestSubmit();

function finish() {
  const field = document.querySelector("#my-now [data-result] :is(textarea, input:not([type='hidden']), select)");
  if (field) {
    field.focus();
    field.scrollIntoView({ block: "nearest" });
  } else {
    finishing = true;
    start();
  }
}

function add() {
  const box = document.getElementById("my-add");
  box.open = true;
  box.querySelector("input[name='title']").focus();
}

const KEYS = { s: start, f: finish, n: add, 1: () => pick("1"), 2: () => pick("2"), 3: () => pick("3") };

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.shiftKey || event.isComposing || event.defaultPrevented) return;
  const result = event.target.closest("form[data-result]");
  if (result && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    result.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape" && event.target.closest("#my-add")) {
    document.getElementById("my-add").open = false;
    document.querySelector("#my-add summary").focus();
  }
  if (event.target.closest(FIELDS) || document.querySelector("dialog[open], [data-drawer]")) return;
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
document.addEventListener("novum:started", () => {
  if (finishing) finish();
  finishing = false;
});
document.addEventListener("do:new", add);
