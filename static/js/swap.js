// One element for another: the focus stays where it was, and so does an open menu.
export const parse = (html) => {
  const box = document.createElement("template");
  box.innerHTML = html.trim();
  return box.content.firstElementChild;
};

export function swap(shown, fresh) {
  const focus = focusIn(shown);
  shown.replaceWith(fresh);
  return settle(fresh, focus);
}

const nextMenu = new WeakMap();

// Counts change all the time: who has the menu open, or types into it, keeps it until
// it's closed.
export function swapHead(shown, fresh) {
  const open = shown.querySelector("details.menu[open]");
  if (!open) return swap(shown, fresh);
  if (!nextMenu.has(open)) {
    open.addEventListener("toggle", () => open.open || swap(open, nextMenu.get(open)));
  }
  nextMenu.set(open, fresh.querySelector("details.menu"));
  for (const part of [...shown.children]) if (!part.contains(open)) part.remove();
  const name = open.parentElement;
  const freshName = fresh.querySelector(`.${name.classList[0]}`);
  for (const part of [...name.children]) if (part !== open) part.remove();
  nextMenu.get(open).remove();
  open.before(...freshName.children);
  freshName.remove();
  shown.append(...fresh.children);
  return shown;
}

export function settle(element, focus) {
  window.htmx?.process(element);
  if (focus >= 0) (stops(element)[focus] ?? stops(element)[0])?.focus({ preventScroll: true });
  return element;
}

const stops = (element) => [...element.querySelectorAll("a[href], button, summary")];
export const focusIn = (element) => stops(element).indexOf(document.activeElement);
