// The sheet's buttons that send nothing: edit a comment, copy the link, older activity,
// why nobody takes the card.
import { localize } from "./local_times.js";
import { fetchPart } from "./moves.js";
import { patch } from "./parts.js";
import { show } from "./toast.js";

document.addEventListener("click", async (event) => {
  const on = (selector) => event.target.closest(`#sheet ${selector}`);
  if (on("[data-open]")) {
    const target = document.getElementById(on("[data-open]").dataset.open);
    on("details.menu").open = false;
    target.open = true;
    target.querySelector("textarea").focus();
  } else if (on("[data-copy-link]")) {
    const url = document.getElementById("sheet").dataset.url.split("?")[0];
    const link = new URL(url, window.location.href).href;
    const said = on("[data-copy-link]").dataset.copyLink;
    // Browsers have a clipboard on https and on this machine only: else show the link.
    await navigator.clipboard?.writeText(link);
    show(navigator.clipboard ? said : link);
  } else if (on("[data-older]")) {
    event.preventDefault();
    older(on("[data-older]"));
  } else if (on("[data-look]") && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    event.preventDefault();
    look(on("[data-look]"));
  }
});

// The sheet with more on it, or less; what it shows then is kept up to date, too.
async function look(link) {
  const reply = await fetchPart(link.href);
  if (!reply.ok) return;
  document.getElementById("sheet").dataset.url = link.href.split("#")[0];
  patch(reply.html);
}

async function older(link) {
  const reply = await fetchPart(link.href);
  if (!reply.ok) return;
  const page = new DOMParser().parseFromString(reply.html, "text/html");
  localize(page);
  const part = link.closest("[data-part]");
  part.dataset.expanded = "true";
  part.querySelector("ol").append(...page.querySelectorAll(`#${part.id} ol > li`));
  const next = page.querySelector("[data-older]");
  if (next) link.href = next.getAttribute("href");
  else link.remove();
}
