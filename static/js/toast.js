// Short notices. A toast is markup from the server ([data-toast]) or of show(); it goes
// after a while, later when it carries an undo, and never while it's being read.
const host = () => document.getElementById("toasts");

function age(toast) {
  const seconds = toast.querySelector("button, a") ? 10 : 5;
  let timer = setTimeout(() => toast.remove(), seconds * 1000);
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", () => {
    timer = setTimeout(() => toast.remove(), 2000);
  });
}

export function show(text, { problem = false, action = null, label = "" } = {}) {
  const toast = document.createElement("div");
  toast.className = problem ? "toast toast-problem" : "toast";
  const words = document.createElement("span");
  words.className = "user-text";
  words.textContent = text;
  toast.append(words);
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => {
      toast.remove();
      action();
    });
    toast.append(button);
  }
  host().append(toast);
  age(toast);
}

document.querySelectorAll("[data-toast]").forEach(age);
// A reply may bring one along: HX-Trigger: {"toast": {"text": "…", "problem": true}}
document.addEventListener("toast", (event) => show(event.detail.text, event.detail));
