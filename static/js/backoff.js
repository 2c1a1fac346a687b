// The picture of a contract's attempts follows what is typed; the server draws it.
import { fetchPart } from "./moves.js";

const PATIENCE_MS = 200;
const DRAWN = ["backoff_seconds", "max_attempts"];
let waiting = 0;
let latest = 0;

async function draw(form) {
  const asked = ++latest;
  const body = new FormData(form);
  const reply = await fetchPart(form.dataset.backoff, { method: "POST", body });
  if (reply.ok && asked === latest) {
    document.getElementById("backoff").innerHTML = reply.html;
  }
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-backoff]");
  if (!form || !DRAWN.includes(event.target.name)) return;
  clearTimeout(waiting);
  waiting = setTimeout(draw, PATIENCE_MS, form);
});
