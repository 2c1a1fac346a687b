// The sheet's buttons that send nothing: edit a comment, copy the link, older activity.
import { localize } from "./local_times.js";
import { fetchPart } from "./moves.js";
import { show } from "./toast.js";

document.addEventListener("click", async (event) => {
  const on = (selector) => event.target.closest(`#sheet ${selector}`);
  if (on("[data-open]")) {
    const target = document.getElementById(on("[data-open]").dataset.open);
    on("details.menu").open = false;
    target.open = true;
    target.querySelector("textarea").focus();
  } else if (on("[data-copy-link]")) {
    const link = new URL(document.getElementById("sheet").dataset.url, window.location.href).href;
    const said = on("[data-copy-link]").dataset.copyLink;
    // Browsers have a clipboard on https and on this machine only: else show the link.
    await navigator.clipboard?.writeText(link);
    show(navigator.clipboard ? said : link);
  } else if (on("[data-older]")) {
    event.preventDefault();
    older(on("[data-older]"));
  }
});

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
