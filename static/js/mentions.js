// "@" in a text field with data-mentions offers the people and agents of the datalist
// #sheet-people: arrows choose, Enter or Tab takes, Escape gives up. The focus stays in
// the field; the chosen one is pointed at (aria-activedescendant).
const MOST = 8;
const AT = /(?:^|[\s(])@([a-z0-9-]*)$/i;
let field = null;
let found = "";

const list = () => document.getElementById("mentions");
const options = () => [...list().children];
const chosen = () => list().querySelector("[aria-selected='true']");
export const isOffering = () => list() !== null;

function people(text) {
  const wanted = text.toLowerCase();
  const all = [...document.querySelectorAll("#sheet-people option")];
  const starts = (one) => one.value.startsWith(wanted);
  const has = (one) => one.textContent.toLowerCase().includes(wanted);
  return [...all.filter(starts), ...all.filter((one) => !starts(one) && has(one))];
}

function optionOf({ value, textContent, dataset }, number) {
  const option = document.createElement("li");
  option.id = `mention-${number}`;
  option.setAttribute("role", "option");
  option.dataset.handle = value;
  option.dataset.kind = dataset.kind;
  const name = document.createElement("bdi");
  name.textContent = textContent;
  const handle = document.createElement("span");
  handle.className = "muted";
  handle.textContent = `@${value}`;
  option.append(name, handle);
  return option;
}

function offer(target, text) {
  const some = people(text).slice(0, MOST);
  close();
  if (!some.length) return;
  field = target;
  found = text;
  const host = document.createElement("ul");
  host.id = "mentions";
  host.className = "mentions";
  host.setAttribute("role", "listbox");
  host.setAttribute("aria-label", "@");
  host.append(...some.map(optionOf));
  target.after(host);
  target.setAttribute("aria-autocomplete", "list");
  target.setAttribute("aria-controls", host.id);
  choose(host.firstElementChild);
}

function choose(option) {
  chosen()?.removeAttribute("aria-selected");
  option.setAttribute("aria-selected", "true");
  field.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function close() {
  list()?.remove();
  field?.removeAttribute("aria-activedescendant");
  field?.removeAttribute("aria-controls");
}

function take(option) {
  const end = field.selectionStart;
  field.setRangeText(`@${option.dataset.handle} `, end - found.length - 1, end, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  close();
  field.focus();
}

function step(by) {
  const all = options();
  choose(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
}

document.addEventListener("input", ({ target, isComposing }) => {
  if (isComposing || !target.matches("textarea[data-mentions]")) return;
  const before = target.value.slice(0, target.selectionStart).match(AT);
  if (before) offer(target, before[1]);
  else close();
});

const KEYS = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  Enter: () => take(chosen()),
  Tab: () => take(chosen()),
  Escape: close,
};
document.addEventListener("keydown", (event) => {
  if (!isOffering() || event.target !== field || event.ctrlKey || event.metaKey) return;
  if (!KEYS[event.key]) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  KEYS[event.key]();
}, true);
// The press of the mouse would take the focus from the field.
document.addEventListener("pointerdown", (event) => {
  const option = event.target.closest?.("#mentions [role='option']");
  if (!option) return;
  event.preventDefault();
  take(option);
});
document.addEventListener("focusout", (event) => event.target === field && close());
