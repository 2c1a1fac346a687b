// Which columns are folded away, in this browser only. A folded column keeps its count
// and takes dropped cards: class "is-folded" on its section, set again after each swap.
const KEY = "novum-folded";
const folded = () => new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));

function apply() {
  const ids = folded();
  for (const column of document.querySelectorAll("[data-column]")) {
    column.classList.toggle("is-folded", ids.has(column.dataset.column));
  }
  for (const button of document.querySelectorAll("[data-fold]")) {
    button.setAttribute("aria-pressed", ids.has(button.dataset.fold) ? "true" : "false");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  if (!button) return;
  const ids = folded();
  if (!ids.delete(button.dataset.fold)) ids.add(button.dataset.fold);
  localStorage.setItem(KEY, JSON.stringify([...ids]));
  apply();
});
document.addEventListener("novum:changed", apply);
window.addEventListener("storage", apply);
const columns = document.getElementById("columns");
if (columns) new MutationObserver(apply).observe(columns.parentElement, { childList: true, subtree: true });
apply();
