// What is typed into a field with data-draft="<key>" outlives reloads and closed
// drawers: it's kept for this tab until it's saved or given up. What the text was made
// from goes with it, so that a later save can still tell that somebody else was faster.
const name = (field) => `novum-draft:${field.dataset.draft}`;
const fieldsOf = (root) => root.querySelectorAll("[data-draft]");
const BASIS = ["version", "seen"];

function keep(field) {
  if (field.value === field.defaultValue) return sessionStorage.removeItem(name(field));
  const basis = BASIS.map((one) => field.form?.elements[one]?.value);
  sessionStorage.setItem(name(field), JSON.stringify({ text: field.value, basis }));
}

export function restore(root) {
  for (const field of fieldsOf(root)) {
    const kept = JSON.parse(sessionStorage.getItem(name(field)) ?? "null");
    if (!kept || kept.text === field.value) continue;
    field.value = kept.text;
    BASIS.forEach((one, i) => {
      const input = field.form?.elements[one];
      if (input && kept.basis[i]) input.value = kept.basis[i];
    });
    const folded = field.closest("details");
    if (folded) folded.open = true;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

export function forget(root) {
  for (const field of fieldsOf(root)) sessionStorage.removeItem(name(field));
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-draft]")) keep(event.target);
});
