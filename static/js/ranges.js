// Shift and click: everything from the last box that was clicked to this one.
let last = null;

document.addEventListener("click", (event) => {
  const box = event.target;
  if (!box.matches?.("input[data-pick]")) return;
  const boxes = [...document.querySelectorAll("input[data-pick]")];
  const from = boxes.findIndex((one) => one.value === last);
  const to = boxes.indexOf(box);
  if (event.shiftKey && from >= 0) {
    const [first, end] = from < to ? [from, to] : [to, from];
    for (const one of boxes.slice(first, end + 1)) {
      if (one.checked === box.checked || one === box) continue;
      one.checked = box.checked;
      one.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
  last = box.value;
});
