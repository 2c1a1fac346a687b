// <textarea data-json>: says at once what isn't JSON and where. The server judges again.
function judge(field) {
  const text = field.value.trim();
  let problem = "";
  try {
    if (text) JSON.parse(text);
  } catch (error) {
    problem = error.message;
  }
  field.setAttribute("aria-invalid", problem ? "true" : "false");
  field.setCustomValidity(problem);
  const note = field.form?.querySelector(`[data-json-problem="${field.name}"]`)
    ?? field.form?.querySelector("[data-json-problem='']");
  if (!note) return;
  note.textContent = problem;
  note.hidden = !problem;
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-json]")) judge(event.target);
});
document.addEventListener("reset", (event) => {
  const fields = event.target.querySelectorAll("[data-json]");
  setTimeout(() => fields.forEach(judge));
});
