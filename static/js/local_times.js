// The server writes times in UTC. Here they become the reader's: <time data-local="…">
// and fields for a date and time, which go back to the server in UTC.
const FORMS = {
  day: { day: "numeric", month: "short" },
  moment: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  date: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" },
  second: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
};
const WHOLE = { dateStyle: "medium", timeStyle: "long" };
const formats = new Map();

function words(moment, form) {
  const key = JSON.stringify(form);
  if (!formats.has(key)) {
    const options = form.hour ? { ...form, hourCycle: "h23" } : form;
    formats.set(key, new Intl.DateTimeFormat(undefined, options));
  }
  return formats.get(key).format(moment);
}

function showTime(time) {
  const moment = new Date(time.dateTime);
  if (Number.isNaN(moment.valueOf())) return;
  time.textContent = words(moment, FORMS[time.dataset.local]);
  time.title = words(moment, WHOLE);
  delete time.dataset.local;
}

const two = (number) => String(number).padStart(2, "0");

function showField(field) {
  field.dataset.zoned = "";
  const utc = field.getAttribute("value");
  const at = new Date(`${utc}Z`);
  if (!utc || Number.isNaN(at.valueOf())) return;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  field.setAttribute("value", `${day}T${two(at.getHours())}:${two(at.getMinutes())}`);
}

export function localize(root) {
  root.querySelectorAll("time[data-local]").forEach(showTime);
  root.querySelectorAll("input[type='datetime-local']:not([data-zoned])").forEach(showField);
  root.querySelectorAll("[data-zone]").forEach((zone) => zone.remove());
}

document.addEventListener("formdata", ({ target, formData }) => {
  for (const { name, value } of target.querySelectorAll("input[data-zoned]")) {
    const at = new Date(value);
    if (value && formData.has(name)) formData.set(name, at.toISOString().slice(0, 16));
  }
});
for (const event of ["novum:changed", "htmx:after:swap"]) {
  document.addEventListener(event, () => localize(document));
}
localize(document);
