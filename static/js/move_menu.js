// "Move to…": the page behind the link, in a dialog.
import { ask } from "./confirm.js";
import { cardById, fetchPart, focusCard, moveUrl, perform } from "./moves.js";

export const openMenu = (card) => open(moveUrl(card), card);

async function open(url, card) {
  const reply = await fetchPart(url);
  if (!reply.ok) return;
  const answer = await ask(reply.html);
  if (answer) await perform(answer.action, answer.fields);
  // A moved card is another element than before. Elsewhere the focus is back already.
  if (card) focusCard(cardById(card.dataset.card));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-move-menu]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link.href, link.closest("[data-card]"));
});
