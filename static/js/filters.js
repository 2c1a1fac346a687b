// The filter takes hold while it's being typed or chosen; the address goes with it.
import { refresh } from "./refresh.js";

const TYPING_MS = 250;
const form = document.querySelector("[data-filters]");
let timer = 0;

function apply() {
  clearTimeout(timer);
  const given = [...new FormData(form)].filter(([, value]) => value.trim());
  const query = new URLSearchParams(given).toString();
  history.replaceState(history.state, "", query ? `?${query}` : window.location.pathname);
  refresh();
}

form.addEventListener("input", (event) => {
  if (!event.target.matches("[data-search]")) return;
  clearTimeout(timer);
  timer = setTimeout(apply, TYPING_MS);
});
form.addEventListener("change", apply);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  form.querySelector("details").open = false;
  apply();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-clear-filters]")) return;
  event.preventDefault();
  for (const field of form.querySelectorAll("input, select")) field.value = "";
  apply();
  form.querySelector("[data-search]").focus();
});
