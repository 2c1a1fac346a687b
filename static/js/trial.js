// "Try it on the cards": what the schema as typed would refuse, beside it.
import { fetchPart } from "./moves.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-try]");
  if (!button) return;
  event.preventDefault();
  const place = document.getElementById(button.dataset.try);
  const body = new FormData(button.form, button);
  button.disabled = true;
  place.setAttribute("aria-busy", "true");
  const reply = await fetchPart(button.formAction, { method: "POST", body });
  button.disabled = false;
  place.removeAttribute("aria-busy");
  if (reply.ok) place.innerHTML = reply.html;
});
