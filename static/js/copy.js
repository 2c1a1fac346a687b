// <button data-copy="#id">: copy that element's text. Without the clipboard (plain HTTP
// from another machine) the text is selected, so that Ctrl+C does it.
import { show } from "./toast.js";

function select(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  const source = button && document.querySelector(button.dataset.copy);
  if (!source) return;
  try {
    await navigator.clipboard.writeText(source.textContent);
    show(button.dataset.copied ?? "Copied.");
  } catch {
    select(source);
  }
});
