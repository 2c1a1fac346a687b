// A notice with a way back: HX-Trigger: {"undoable": {text, label, url, fields}}.
import { perform } from "./moves.js";
import { show } from "./toast.js";

document.addEventListener("undoable", (event) => {
  const { text, label, url, fields } = event.detail;
  const back = new FormData();
  for (const [name, value] of Object.entries(fields)) back.set(name, value);
  const undo = async () => {
    if (await perform(url, back)) document.dispatchEvent(new CustomEvent("undone"));
  };
  show(text, { label, action: undo });
});
