// The charts of a queue. Their figures are an attribute of the part that keeps itself
// fresh, so they follow it; their colours are the page's tokens, light or dark.
const root = document.querySelector("[data-charts-of]");
const source = document.getElementById(root.dataset.chartsOf);
const LOOKS = {
  ended: [["completed", "done", [], true], ["failed", "failed"], ["dead_lettered", "text", [2, 3]], ["expired", "waiting", [6, 3]]],
  depth: [["depth", "accent", [], true], ["working", "done", [6, 3]]],
  wait: [["wait_p50", "accent"], ["wait_p95", "waiting", [6, 3]]],
  run: [["run_p50", "accent"], ["run_p95", "waiting", [6, 3]]],
};
// In seconds: what people count lengths of time in.
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000];
const charts = new Map();

/** What a token is now, as canvas takes it. */
function ink(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  root.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function brief(seconds) {
  if (seconds == null) return "–";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const [size, unit] = seconds < 3600 ? [60, "min"] : seconds < 86400 ? [3600, "h"] : [86400, "d"];
  return `${Number((seconds / size).toFixed(1))} ${unit}`;
}

function options(place, kind) {
  const labels = place.dataset.labels.split("|");
  const isTime = kind === "wait" || kind === "run";
  const said = isTime ? brief : (value) => (value == null ? "–" : String(value));
  const grid = { stroke: ink("line"), width: 1 };
  const axis = { stroke: ink("muted"), grid, ticks: { show: false }, font: "11px system-ui" };
  return {
    width: Math.max(200, place.clientWidth),
    height: 180,
    cursor: { sync: { key: "queue" }, drag: { x: false, y: false }, points: { size: 5 } },
    scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : isTime ? 1 : 5] } },
    axes: [
      { ...axis, size: 40 },
      { ...axis, size: 52, incrs: isTime ? STEPS : undefined, values: (_, ticks) => ticks.map((tick) => (isTime ? brief(tick) : Number.isInteger(tick) ? tick.toLocaleString() : "")) },
    ],
    series: [
      { label: place.dataset.from, value: (_, at) => (at == null ? "" : new Date(at * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "short" })) },
      ...LOOKS[kind].map(([, token, dash, filled], number) => {
        const stroke = ink(token);
        return {
          label: labels[number],
          stroke,
          width: 1.5,
          dash,
          fill: filled ? stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)") : undefined,
          points: { show: isTime, size: 3 },
          spanGaps: isTime,
          value: (_, value) => said(value),
        };
      }),
    ],
  };
}

const figures = () => JSON.parse(source.dataset.charts);
const columns = (all, kind) => [all.at, ...LOOKS[kind].map(([name]) => all[name])];

function draw() {
  const all = figures();
  for (const place of root.querySelectorAll("[data-chart]")) {
    const kind = place.dataset.chart;
    charts.get(place)?.destroy();
    charts.set(place, new window.uPlot(options(place, kind), columns(all, kind), place));
  }
  root.dataset.drawn = "";
}

new MutationObserver(() => {
  const all = figures();
  for (const [place, chart] of charts) chart.setData(columns(all, place.dataset.chart));
}).observe(source, { attributes: true, attributeFilter: ["data-charts"] });
new ResizeObserver(() => {
  for (const [place, chart] of charts) chart.setSize({ width: Math.max(200, place.clientWidth), height: 180 });
}).observe(root);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
