// A card that is somewhere else than before is seen going there (FLIP). Between lists
// a copy flies, since a list shows nothing outside of itself.
const DURATION = 260;
const EASING = "cubic-bezier(0.2, 0, 0, 1)";
const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");

export function placeOf(card) {
  return { rect: card.getBoundingClientRect(), list: card.parentElement };
}

export function slide(card, before) {
  if (reduced.matches || document.hidden || !card.isConnected) return;
  const rect = card.getBoundingClientRect();
  const dx = before.rect.left - rect.left;
  const dy = before.rect.top - rect.top;
  if (Math.abs(dx) < 1 && Math.abs(dy) < 1) return;
  const from = { transform: `translate(${dx}px, ${dy}px)` };
  if (before.list === card.parentElement) {
    card.animate([from, { transform: "none" }], { duration: DURATION, easing: EASING });
  } else {
    fly(card, rect, before);
  }
}

function fly(card, rect, before) {
  const list = card.parentElement.getBoundingClientRect();
  // What lies below the visible part of the list is where it seems to end.
  const top = Math.min(Math.max(rect.top, list.top), list.bottom);
  const copy = card.cloneNode(true);
  for (const named of [copy, ...copy.querySelectorAll("[id]")]) named.removeAttribute("id");
  for (const name of ["card", "order", "version"]) delete copy.dataset[name];
  copy.querySelectorAll("[data-lease]").forEach((chip) => chip.removeAttribute("data-lease"));
  copy.classList.add("card-flying");
  copy.setAttribute("aria-hidden", "true");
  copy.inert = true;
  copy.style.width = `${rect.width}px`;
  copy.style.left = `${rect.left}px`;
  copy.style.top = `${top}px`;
  document.body.append(copy);
  card.classList.add("card-hidden");
  const dx = before.rect.left - rect.left;
  const dy = before.rect.top - top;
  const flight = copy.animate(
    [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }],
    { duration: DURATION * 1.5, easing: EASING },
  );
  const land = () => {
    copy.remove();
    card.classList.remove("card-hidden");
  };
  flight.finished.then(land, land);
}
