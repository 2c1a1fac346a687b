// The badge of what needs the reader: read when the page comes without it, then now and
// again, and whenever something on the page says so.
const EVERY_MS = 20_000;
const badge = () => document.getElementById("fleet-alarm");

async function read() {
  if (document.hidden || !badge()) return;
  try {
    const reply = await fetch(badge().dataset.alarm, {
      headers: { "HX-Request": "true" },
      cache: "no-store",
    });
    if (!reply.ok || reply.headers.has("HX-Redirect")) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const fresh = page.getElementById("fleet-alarm");
    if (fresh && fresh.textContent !== badge().textContent) badge().replaceWith(fresh);
  } catch {
    // The next time.
  }
}

if (badge() && !("known" in badge().dataset)) read();
setInterval(read, EVERY_MS);
document.addEventListener("novum:fleet", read);
