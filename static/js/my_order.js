// The order of one's tasks: by mouse and finger, or with Alt and the arrow keys.
import { fetchPart } from "./moves.js";
import { refresh } from "./my.js";

const OPTIONS = {
  group: "rows",
  draggable: "[data-row]",
  filter: "button, summary, .menu-list",
  preventOnFilter: false,
  delay: 200,
  delayOnTouchOnly: true,
  forceFallback: true,
  fallbackOnBody: true,
  fallbackTolerance: 4,
  animation: window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 140,
  ghostClass: "card-gap",
  dragClass: "card-dragged",
};
const rows = () => [...document.querySelectorAll("[data-rows] > [data-row]")];

// The nearest one on the same queue, above if there is one.
function anchor(row) {
  const all = rows();
  const at = all.indexOf(row);
  const isPeer = (other) => other.dataset.peers === row.dataset.peers;
  const above = all.slice(0, at).findLast(isPeer);
  const below = all.slice(at + 1).find(isPeer);
  if (above && (above === all[at - 1] || !below)) return { after: above.dataset.row };
  return below ? { before: below.dataset.row } : null;
}

async function place(row) {
  const beside = anchor(row);
  if (beside) {
    const body = new FormData();
    for (const [name, value] of Object.entries(beside)) body.set(name, value);
    await fetchPart(`${document.querySelector("[data-my]").dataset.my}/${row.dataset.row}/move`, { method: "POST", body });
  }
  delete document.body.dataset.dragging;
  await refresh();
}

function takeUp() {
  for (const list of document.querySelectorAll("[data-rows]")) {
    if (!window.Sortable.get(list)) {
      window.Sortable.create(list, {
        ...OPTIONS,
        onStart: ({ item }) => (document.body.dataset.dragging = item.dataset.row),
        onEnd: ({ item, from, to, oldIndex, newIndex }) => {
          if (from !== to || oldIndex !== newIndex) place(item);
          else delete document.body.dataset.dragging;
        },
      });
    }
  }
}

for (const name of ["pointerdown", "touchstart", "mousedown"]) {
  document.addEventListener(name, takeUp, { capture: true, passive: true });
}
document.addEventListener("keydown", (event) => {
  const row = event.target.closest("[data-row]");
  if (!row || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  const button = row.querySelector(event.key === "ArrowUp" ? "[data-up]" : "[data-down]");
  button?.form.requestSubmit(button);
});
