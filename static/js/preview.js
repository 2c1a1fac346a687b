// Write and Preview: the server renders what is typed, nothing is saved.
import { fetchPart } from "./moves.js";

async function choose(tab) {
  const form = tab.closest("form");
  const preview = form.querySelector("[role='tabpanel']");
  const field = form.querySelector("textarea");
  const url = tab.dataset.preview;
  if (url) {
    const reply = await fetchPart(url, { method: "POST", body: new FormData(form) });
    if (!reply.ok) return;
    preview.innerHTML = reply.html;
  }
  for (const one of form.querySelectorAll("[role='tab']")) {
    one.setAttribute("aria-selected", one === tab ? "true" : "false");
    one.tabIndex = one === tab ? 0 : -1;
  }
  preview.hidden = !url;
  field.hidden = Boolean(url);
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-tabs] [role='tab']");
  if (tab) choose(tab);
});
document.addEventListener("keydown", (event) => {
  const tab = event.target.closest?.("[data-tabs] [role='tab']");
  if (!tab || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  const other = tab.parentElement.querySelector("[role='tab'][aria-selected='false']");
  event.preventDefault();
  other?.focus();
  if (other) choose(other);
});
