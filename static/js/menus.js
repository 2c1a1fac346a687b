// <details class="menu">: one open at a time; Escape and a click elsewhere close it.
const open = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of open()) {
    menu.open = false;
    menu.querySelector("summary").focus();
    event.stopPropagation();
  }
});
// What is sent by htmx leaves the page as it is; the menu has done its work.
document.addEventListener("submit", (event) => {
  if (event.target.matches("details.menu form[hx-post]")) {
    event.target.closest("details.menu").open = false;
  }
});
