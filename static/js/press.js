// Whether the mouse or a finger is down. What is below stays until it's up again:
// with another element there, the browser makes no click.
const LONGEST_MS = 30_000;
let timer = 0;
let waiting = [];

export const isPressed = () => timer !== 0;
export const released = () =>
  isPressed() ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();

function release() {
  clearTimeout(timer);
  timer = 0;
  const now = waiting;
  waiting = [];
  for (const resolve of now) resolve();
}

function press({ button }) {
  if (button) return;
  clearTimeout(timer);
  timer = setTimeout(release, LONGEST_MS);
}

document.addEventListener("pointerdown", press, { capture: true });
for (const name of ["pointerup", "pointercancel"]) {
  // The click comes right behind it.
  document.addEventListener(name, () => setTimeout(release), { capture: true });
}
