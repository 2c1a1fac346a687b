// Which columns are folded away, in this browser only. A folded column keeps its count
// and takes dropped cards: class "is-folded" on its section, set again after each swap.
const KEY = "novum-folded";
const folded = () => new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));

function toggle(id) {
  const ids = folded();
  if (!ids.delete(id)) ids.add(id);
  localStorage.setItem(KEY, JSON.stringify([...ids]));
  apply();
}

// A folded column is one button: its heading takes the focus and opens it again.
function apply() {
  const ids = folded();
  for (const column of document.querySelectorAll("[data-column]")) {
    const isFolded = ids.has(column.dataset.column);
    column.classList.toggle("is-folded", isFolded);
    const name = column.querySelector("h2");
    if (!isFolded) ["tabindex", "role", "aria-expanded"].forEach((one) => name?.removeAttribute(one));
    else if (name) Object.assign(name, { tabIndex: 0, role: "button", ariaExpanded: "false" });
  }
  for (const button of document.querySelectorAll("[data-fold]")) {
    button.setAttribute("aria-pressed", ids.has(button.dataset.fold) ? "true" : "false");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  const strip = event.target.closest(".is-folded[data-column]");
  if (button) toggle(button.dataset.fold);
  else if (strip) toggle(strip.dataset.column);
});
document.addEventListener("keydown", (event) => {
  const strip = event.target.closest(".is-folded[data-column]");
  if (!strip || !["Enter", " "].includes(event.key)) return;
  event.preventDefault();
  toggle(strip.dataset.column);
});
document.addEventListener("novum:changed", apply);
window.addEventListener("storage", apply);
const columns = document.getElementById("columns");
// Columns and heads are swapped as a whole; cards come and go without this.
const isHead = ({ target }) => !target.closest?.("[data-cards]");
const observer = new MutationObserver((changes) => changes.some(isHead) && apply());
if (columns) observer.observe(columns.parentElement, { childList: true, subtree: true });
apply();
