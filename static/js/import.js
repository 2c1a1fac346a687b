// An import on its way says so, and a new board's name is asked for only where one is made.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("form[data-busy]")) return;
  const shown = target.querySelector("[data-busy-shown]");
  if (shown) shown.hidden = false;
});
// Back from the browser's cache, nothing is on its way any more.
addEventListener("pageshow", () => {
  document.querySelectorAll("[data-busy-shown]").forEach((one) => { one.hidden = true; });
});

function showName() {
  const into = document.querySelector("[data-into]");
  const name = document.querySelector("[data-new-board]");
  if (into && name) name.hidden = into.value !== "new";
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-into]")) showName();
});
showName();
document.body.dataset.scripted = "";
