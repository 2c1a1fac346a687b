// "Move to…": the page behind the link, in a dialog.
import { ask } from "./confirm.js";
import { cardById, fetchPart, focusCard, moveUrl, perform } from "./moves.js";

export async function openMenu(card) {
  const url = moveUrl(card);
  if (!url) return;
  const reply = await fetchPart(url);
  if (!reply.ok) return;
  const answer = await ask(reply.html);
  if (answer) await perform(answer.action, answer.fields);
  focusCard(cardById(card.dataset.card));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-move-menu]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openMenu(link.closest("[data-card]"));
});
