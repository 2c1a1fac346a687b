// A question of the server's, in a <dialog>. Its forms are answers: ask() gives the one
// that was chosen as { action, fields }, or null.
export function ask(html) {
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", "ask-title");
  dialog.innerHTML = html;
  document.body.append(dialog);
  return new Promise((resolve) => {
    let answer = null;
    dialog.addEventListener("submit", (event) => {
      event.preventDefault();
      const fields = new FormData(event.target, event.submitter);
      answer = { action: event.target.action, fields };
      dialog.close();
    });
    dialog.addEventListener("click", (event) => {
      const away = event.target === dialog || event.target.closest("[data-close]");
      if (!away) return;
      event.preventDefault();
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
  });
}

// A question of the page's own: the text, and a button for each choice.
export function choose(text, choices) {
  const form = document.createElement("form");
  const title = document.createElement("h2");
  const buttons = document.createElement("div");
  form.className = "question";
  title.id = "ask-title";
  title.textContent = text;
  buttons.className = "question-buttons";
  for (const [value, label] of Object.entries(choices)) {
    const button = document.createElement("button");
    button.className = "button";
    button.name = "choice";
    button.value = value;
    button.textContent = label;
    buttons.append(button);
  }
  buttons.lastElementChild.classList.add("button-primary");
  form.append(title, buttons);
  return ask(form.outerHTML).then((answer) => answer?.fields.get("choice") ?? null);
}
