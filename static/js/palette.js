// Ctrl-K or ⌘-K: a field that finds boards, cards and actions (ARIA combobox pattern;
// the focus stays in the field, the chosen option is pointed at).
const SETTLED_MS = 120;
let timer = 0;
let asked = 0;

const onBoard = () => document.getElementById("columns") !== null;
const palette = () => document.getElementById("palette");
const field = () => palette().querySelector("[role='combobox']");
const options = () => [...palette().querySelectorAll("a[role='option']")];
const chosen = () => palette().querySelector("[aria-selected='true']");

async function fetchPalette(query) {
  const search = new URLSearchParams({ ...query, ...(onBoard() && { on: "board" }) });
  const headers = { "HX-Request": "true" };
  const reply = await fetch(`/find?${search}`, { headers });
  const away = reply.headers.get("HX-Redirect");
  if (away) window.location.assign(away);
  return reply.ok ? reply.text() : "";
}

async function open() {
  if (document.querySelector("dialog[open]")) return;
  const html = await fetchPalette({});
  if (!html || palette()) return;
  document.body.insertAdjacentHTML("beforeend", html);
  const dialog = palette();
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", onClick);
  dialog.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, SETTLED_MS);
  });
  dialog.addEventListener("keydown", onKey);
  dialog.showModal();
  choose(options()[0]);
}

async function find() {
  const turn = ++asked;
  const html = await fetchPalette({ q: field().value, part: "results" });
  // An answer that comes late is an answer to another question.
  if (!html || turn !== asked || !palette()) return;
  palette().querySelector("#palette-results").outerHTML = html;
  choose(options()[0]);
}

function choose(option) {
  chosen()?.removeAttribute("aria-selected");
  if (!option) return void field().removeAttribute("aria-activedescendant");
  option.setAttribute("aria-selected", "true");
  field().setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = options();
  if (all.length) choose(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
}

function onKey(event) {
  if (event.key === "ArrowDown") step(1);
  else if (event.key === "ArrowUp") step(-1);
  else if (event.key === "Enter") chosen()?.click();
  else return;
  event.preventDefault();
}

function onClick(event) {
  if (event.target === palette()) return void palette().close();
  const option = event.target.closest("a[role='option']");
  if (!option?.dataset.does) return;
  event.preventDefault();
  palette().close();
  document.dispatchEvent(new CustomEvent(`do:${option.dataset.does}`));
}

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  if (palette()) palette().close();
  else open();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-palette]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open();
});
