// Cards by mouse and finger. A finger has to rest a moment, so that scrolling stays
// scrolling; lists are taken up when they are touched, whatever was swapped before.
import { drop, home, putBack } from "./drop.js";
import { mayChange } from "./moves.js";

const OPTIONS = {
  group: "cards",
  draggable: "[data-card]",
  filter: "input, textarea, button, summary, [data-move-menu]",
  preventOnFilter: false,
  delay: 200,
  delayOnTouchOnly: true,
  touchStartThreshold: 5,
  forceFallback: true,
  fallbackOnBody: true,
  fallbackTolerance: 4,
  animation: window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 140,
  ghostClass: "card-gap",
  dragClass: "card-dragged",
  scrollSensitivity: 60,
  emptyInsertThreshold: 24,
};
let from = null;

function start({ item }) {
  from = home(item);
  // Sortable's own copy stands in the list while the card is dragged.
  if (from.next?.dataset.card === undefined) from.next = null;
  document.body.dataset.dragging = item.dataset.card;
  window.getSelection()?.removeAllRanges();
}

async function end({ item }) {
  const origin = from;
  from = null;
  swallowClick();
  if (cancelled) {
    putBack(item, origin);
    delete document.body.dataset.dragging;
    return;
  }
  try {
    await drop(item, origin);
  } finally {
    // Unless the next one is in the air already.
    if (!from) delete document.body.dataset.dragging;
  }
}

// The click that the release of the button makes is none.
function swallowClick() {
  const stop = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => document.removeEventListener("click", stop, { capture: true }), 50);
}

let cancelled = false;

function takeUp() {
  cancelled = false;
  if (!mayChange()) return;
  for (const list of document.querySelectorAll("[data-cards]")) {
    if (!window.Sortable.get(list)) {
      window.Sortable.create(list, { ...OPTIONS, onStart: start, onEnd: end });
    }
  }
}

for (const name of ["pointerdown", "touchstart", "mousedown"]) {
  document.addEventListener(name, takeUp, { capture: true, passive: true });
}
// Escape lets go without moving anything.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || !from) return;
    cancelled = true;
    event.stopPropagation();
    document.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
    document.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
  },
  { capture: true },
);
