// On a phone: marks the column that is on the screen in the list of columns.
const shown = new IntersectionObserver(mark, { threshold: 0.6 });

function mark(entries) {
  for (const { target, isIntersecting } of entries) {
    const link = document.querySelector(`.switcher a[href="#${target.id}"]`);
    if (!link) continue;
    if (isIntersecting) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    if (isIntersecting && link.offsetParent) {
      const strip = link.parentElement;
      strip.scrollTo({ left: link.offsetLeft - (strip.clientWidth - link.offsetWidth) / 2 });
    }
  }
}

function observe() {
  shown.disconnect();
  document.querySelectorAll("[data-column]").forEach((column) => shown.observe(column));
}

observe();
// The list is the server's again after the board was read anew.
document.addEventListener("novum:changed", ({ detail }) => {
  if (!detail?.cards || detail.layout) observe();
});
