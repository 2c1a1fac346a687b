// A card's buttons belong to the page's one form (form="card-post"), so that no card
// carries a form of its own; here they are sent without leaving the page.
import { perform } from "./moves.js";

document.addEventListener("submit", async (event) => {
  if (event.target.id !== "card-post") return;
  event.preventDefault();
  const button = event.submitter;
  button.disabled = true;
  await perform(button.formAction, new FormData(event.target));
  button.disabled = false;
});
