// Two charts: the answer against one setting, with measured points; and latency over offered load.

const SWEPT = 30; // points of a line when the hand rests; fewer while it moves on a slow machine
const LOADS = 28;
let detail = 1;
const HIGHEST_LOAD = 1.2;
const POINT = 4.5;
const charts = {};

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function tint(name, percent) {
  return `color-mix(in srgb, ${colour(name)} ${percent}%, transparent)`;
}

function metricOf(p) {
  if (Object.hasOwn(METRICS, state.y) && METRICS[state.y].value(p) !== null) return state.y;
  return p.scenario.workload === "rr" || p.scenario.load.kind !== "max" ? "latency_us" : p.scenario.workload === "stream" ? "throughput_mbps" : "rate_pps";
}

function withValue(asked, name, value) {
  if (name === "load") return { ...asked, load: { kind: "rate_pps", value } };
  return { ...asked, knobs: { ...asked.knobs, [name]: value } };
}

function valueOf(asked, scenario, name) {
  if (name === "load") return asked.load === null ? null : asked.load.kind === "rate_pps" ? asked.load.value : asked.load.value / (8 * scenario.knobs.get("size"));
  return scenario.knobs.get(name);
}

// rows of the evidence that answer the same question, apart from the setting on the axis
function pointsFor(asked, scenario, x, y) {
  const found = [];
  for (const r of $known.facts.rows) {
    if (r.metric !== y || !sameQuestion(r, asked)) continue;
    const at = r.knobs[x];
    if (at === undefined) continue;
    const same = Object.entries(r.knobs).every(([k, v]) => k === x || $eq(scenario.knobs.get(k), v));
    const scale = ROW_SCALE[y] ?? 1;
    found.push({ x: at, y: r.value * scale, sd: r.sd === null ? null : r.sd * scale, same, row: r });
  }
  return found;
}

// the loads or values at which the curve is drawn
function valuesOf(name, points, now, capacity) {
  let [low, high, small] = name === "load" ? [capacity / 100, capacity * HIGHEST_LOAD, 1] : reachOf(name);
  const whole = library_tables__knobs().get(name)?.kind === "count" || ["size", "mtu", "queues", "flows", "vcpus", "batch"].includes(name);
  const seen = points.filter((p) => p.same).map((p) => p.x);
  if (seen.length > 1) [low, high] = [Math.max(low, Math.min(...seen, now ?? Infinity) / 2), Math.min(Math.max(...seen, now ?? 0) * 2, Math.max(high, ...seen))];
  else if (now !== null) high = Math.max(high, now);
  const first = low === 0 ? small : low;
  const out = low === 0 ? [0] : [];
  const count = Math.round(SWEPT * detail);
  for (let i = 0; i < count; i++) out.push(first * (high / first) ** (i / (count - 1)));
  if (now !== null && now !== undefined) out.push(now);
  const settled = out.map((v) => (whole ? Math.round(v) : v));
  return [...new Set(settled)].sort((a, b) => a - b);
}

function axisScale(name) {
  return name === "load" || reachOf(name)[0] > 0 ? { distr: 3, log: 10 } : { distr: 4, asinh: 10 };
}

function shortNumber(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  const [factor, prefix] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : size >= 1e3 ? [1e3, "k"] : [1, ""];
  return `${Number((v / factor).toPrecision(3))}${prefix}`;
}

// ticks of a logarithmic axis: powers of ten where it is long, else 1, 2, 5; zero where it begins there
function roundTicks(u, axis, low, high) {
  const first = Math.floor(Math.log10(low > 0 ? low : Math.max(high / 1e4, 1e-3)));
  const last = Math.ceil(Math.log10(high));
  const steps = last - first > 4 ? [1] : last - first > 2 ? [1, 3] : [1, 2, 5];
  const out = low <= 0 ? [0] : [];
  for (let k = first; k <= last; k++) out.push(...steps.map((s) => s * 10 ** k));
  return out.filter((v) => v >= low && v <= high);
}

function axes(xTitle, yTitle, xLog, yLog) {
  const line = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
  const filter = (u, ticks) => ticks; // every tick has its number, on a logarithmic axis too
  const shownTicks = (u, ticks) => ticks.map((v) => (v === null ? null : shortNumber(v)));
  return [
    { ...line, label: xTitle, labelSize: 22, size: 34, values: shownTicks, splits: xLog ? roundTicks : undefined, filter },
    { ...line, label: yTitle, labelSize: 22, size: 58, values: shownTicks, splits: yLog ? roundTicks : undefined, filter },
  ];
}

function show(id, options, data) {
  const box = byId(id);
  const width = Math.max(box.clientWidth, 260);
  const signature = JSON.stringify([options.signature, width]);
  if (charts[id]?.signature === signature) {
    charts[id].draw = options.draw;
    charts[id].plot.setData(data);
    tell(charts[id].plot, data, options.now);
    return;
  }
  charts[id]?.plot.destroy();
  const kept = { signature, draw: options.draw };
  kept.plot = new uPlot({
    width, height: Math.min(380, Math.max(280, Math.round(width * 0.6))), scales: options.scales, series: options.series, bands: options.bands, axes: options.axes,
    legend: { show: true, live: true, markers: { width: 2 } }, cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    hooks: { draw: [(u) => kept.draw(u)] },
  }, data, box);
  tell(kept.plot, data, options.now);
  charts[id] = kept;
}

// the legend has the values at the configuration until somebody points elsewhere
function tell(plot, data, now) {
  const idxs = data.map((column) => {
    let best = null;
    column.forEach((y, i) => {
      if (y !== null && (best === null || Math.abs(data[0][i] - now) < Math.abs(data[0][best] - now))) best = i;
    });
    return best;
  });
  plot.setLegend({ idxs });
}

function line(label, name, side, extra = {}) {
  return { label, stroke: colour(name), width: 2, dash: side === "b" ? [7, 5] : undefined, points: { show: false }, value: (u, v) => (v === null ? "–" : Number(v.toPrecision(4)).toString()), ...extra };
}

function edge(label) {
  return { class: "edge", label, stroke: "transparent", width: 0, points: { show: false }, value: (u, v) => (v === null ? "–" : Number(v.toPrecision(4)).toString()) };
}

function drawSweep(found) {
  const side = state.side;
  const x = state.x;
  const y = metricOf(found[side]);
  const metric = METRICS[y];
  const points = pointsFor(state[side], found[side].scenario, x, y);
  const nows = sides().map((s) => valueOf(state[s], found[s].scenario, x));
  const capacity = x === "load" ? outcome(scenarioOf({ ...state[side], workload: "packets", load: null })).rate_per_s : 1;
  const values = valuesOf(x, points, nows[sides().indexOf(side)] ?? null, capacity);
  const data = [values];
  const series = [{ label: titleOf(x), value: (u, v) => (v === null ? "–" : shortNumber(v)) }];
  const bands = [];
  for (const s of sides()) {
    const answers = values.map((v) => predict(withValue(state[s], x, v)));
    const intervals = answers.map((p) => metric.interval(p));
    const mark = state.b ? ` ${s.toUpperCase()}` : "";
    const first = data.length;
    data.push(answers.map((p) => metric.value(p)), intervals.map((i) => (i === null ? null : i.high * metric.scale)), intervals.map((i) => (i === null ? null : i.low * metric.scale)));
    series.push(line(`${metric.title}${mark}`, `--${s}`, s), edge(`90 % high${mark}`), edge(`90 % low${mark}`));
    bands.push({ series: [first + 1, first + 2], fill: tint(`--${s}`, 16) });
  }
  const unit = x === "load" ? "packets/s" : library_tables__knobs().get(x).unit.replace("us", "µs");
  const peak = Math.max(...points.map((p) => p.y), ...data.slice(1).flat().filter((v) => v !== null && Number.isFinite(v)));
  const lowest = Math.min(...points.map((p) => p.y), ...data.slice(1).flat().filter((v) => v !== null && v > 0));
  const log = peak / lowest > 50;
  const options = {
    signature: [x, y, state.b !== null, log, document.documentElement.clientWidth, matchMedia("(prefers-color-scheme: dark)").matches],
    scales: { x: { time: false, ...axisScale(x), range: () => [bounds.first, bounds.last] }, y: log ? { distr: 3, log: 10, range: () => [bounds.low / 1.25, bounds.high * 1.25] } : { range: () => [0, bounds.high * 1.08] } },
    now: nows[sides().indexOf(side)] ?? values[values.length - 1],
    series, bands, axes: axes(`${titleOf(x)}${unit ? ` [${unit}]` : ""}`, `${metric.title} [${metric.unit}]`, true, log),
    draw: (u) => {
      nows.forEach((now, i) => now !== null && now !== undefined && here(u, now, `--${sides()[i]}`, i));
      points.forEach((p) => dot(u, p));
    },
  };
  [bounds.low, bounds.high, bounds.first, bounds.last] = [lowest, peak, values[0], values[values.length - 1]];
  show("sweep", options, data);
  const same = points.filter((p) => p.same).length;
  const measured = points.length ? `${same} measured ${same === 1 ? "point" : "points"} with these settings (filled circles, bars of one standard deviation where it was given), ${points.length - same} with others of this path (hollow diamonds).` : "No measured points of this question vary this setting.";
  byId("sweep-caption").textContent = `Line: ${metric.title} [${metric.unit}]; band: 90 % interval; upright line: the configuration above. ${measured}`;
  byId("sweep").setAttribute("role", "img");
  byId("sweep").setAttribute("aria-label", `${metric.title} against ${titleOf(x)}: from ${spoken(data[1][0])} to ${spoken(data[1][data[1].length - 1])} ${metric.unit}. The table below has the values.`);
  later("sweep-table", () => table(byId("sweep-table"), [`${titleOf(x)} [${unit}]`, ...series.slice(1).map((s) => `${s.label} [${metric.unit}]`)], data, points.map((p) => [p.x, p.y, p.row])));
}

const bounds = { low: 1, high: 1, first: 0, last: 1 };

function spoken(v) {
  return v === null ? "nothing" : Number(v.toPrecision(3)).toString();
}

function here(u, value, name, number) {
  const x = u.valToPos(value, "x", true);
  if (!(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width)) return;
  const c = u.ctx;
  c.save();
  c.strokeStyle = colour(name);
  c.lineWidth = devicePixelRatio * 1.25;
  c.setLineDash(number ? [7 * devicePixelRatio, 5 * devicePixelRatio] : [2 * devicePixelRatio, 3 * devicePixelRatio]);
  c.beginPath();
  c.moveTo(x, u.bbox.top);
  c.lineTo(x, u.bbox.top + u.bbox.height);
  c.stroke();
  c.restore();
}

function dot(u, point) {
  const [x, y] = [u.valToPos(point.x, "x", true), u.valToPos(point.y, "y", true)];
  if (!(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width && y >= u.bbox.top && y <= u.bbox.top + u.bbox.height)) return;
  const c = u.ctx;
  const size = POINT * devicePixelRatio;
  c.save();
  c.strokeStyle = c.fillStyle = colour(point.same ? "--measured" : "--mark");
  c.lineWidth = devicePixelRatio * 1.3;
  if (point.same && point.sd) {
    c.beginPath();
    c.moveTo(x, Math.min(u.valToPos(Math.max(point.y - point.sd, point.y / 100), "y", true), u.bbox.top + u.bbox.height));
    c.lineTo(x, Math.max(u.valToPos(point.y + point.sd, "y", true), u.bbox.top));
    c.stroke();
  }
  c.beginPath();
  if (point.same) {
    c.arc(x, y, size, 0, 2 * Math.PI);
    c.fill();
  } else {
    c.moveTo(x - size, y);
    c.lineTo(x, y - size);
    c.lineTo(x + size, y);
    c.lineTo(x, y + size);
    c.closePath();
    c.stroke();
  }
  c.restore();
}

// latency over offered load: the same path carrying frames of this size

const NEAR_CAPACITY = 0.985; // where the curve bends most
const span = { low: 1, high: 1, end: 1 };

function curveOf(asked) {
  const scenario = scenarioOf({ ...asked, workload: "packets", load: null });
  const parameters = solve_compose__parameter_values(scenario);
  const capacity = solve_solver__solve(scenario, parameters).outcome.rate_per_s;
  const count = Math.round(LOADS * detail);
  const rates = [NEAR_CAPACITY * capacity, capacity];
  for (let i = 1; i <= count; i++) rates.push((HIGHEST_LOAD * capacity * i) / count);
  const answers = new Map(rates.map((rate) => {
    const load = new core_records__Load({ kind: "rate_pps", value: rate });
    const out = solve_solver__solve($replace(scenario, { load }), parameters).outcome;
    return [rate, [out.latency_s, solve_tails__skewed_percentile(out.time, 0.99), solve_tails__skewed_percentile(out.time, 0.5)].map((t) => t * units__US_PER_S)];
  }));
  return { capacity, answers };
}

function drawCurve(found) {
  const curves = sides().map((s) => curveOf(state[s]));
  const xs = [...new Set(curves.flatMap((c) => [...c.answers.keys()]))].sort((a, b) => a - b);
  const data = [xs];
  const series = [{ label: "offered", value: (u, v) => (v === null ? "–" : `${shortNumber(v)}pps`) }];
  const bands = [];
  sides().forEach((s, i) => {
    const first = data.length;
    const mark = state.b ? ` ${s.toUpperCase()}` : "";
    data.push(...[0, 1, 2].map((k) => xs.map((x) => curves[i].answers.get(x)?.[k] ?? null)));
    const thin = { width: 1, spanGaps: true };
    series.push(line(`mean${mark}`, `--${s}`, s, { spanGaps: true }), line(`p99${mark}`, `--${s}`, s, { ...thin, dash: [2, 3] }), line(`p50${mark}`, `--${s}`, s, { ...thin, dash: [1, 4] }));
    if (!state.b) bands.push({ series: [first + 1, first + 2], fill: tint(`--${s}`, 16) });
  });
  const loads = sides().map((s) => (state[s].workload === "packets" ? valueOf(state[s], found[s].scenario, "load") : null));
  const finite = data.slice(1).flat().filter((v) => v !== null && v > 0 && Number.isFinite(v));
  [span.low, span.high, span.end] = [Math.min(...finite), Math.max(...finite), xs[xs.length - 1]];
  const own = curves[sides().indexOf(state.side)].capacity;
  show("curve", {
    signature: ["curve", state.b !== null, document.documentElement.clientWidth, matchMedia("(prefers-color-scheme: dark)").matches],
    scales: { x: { time: false, range: () => [0, span.end] }, y: { distr: 3, log: 10, range: () => [span.low / 1.25, span.high * 1.25] } },
    series, bands, axes: axes("offered load [packets/s]", "latency [µs]", false, true), now: loads[sides().indexOf(state.side)] ?? own / 2,
    draw: (u) => {
      curves.forEach((c, i) => here(u, c.capacity, state.b ? `--${sides()[i]}` : "--mark", 1));
      loads.forEach((load, i) => load !== null && here(u, load, `--${sides()[i]}`, 0));
    },
  }, data);
  const capacities = curves.map((c, i) => `${state.b ? `${sides()[i].toUpperCase()}: ` : ""}${units__format_rate(c.capacity)}`).join(", ");
  const band = state.b ? "thin lines" : "band between thin lines";
  byId("curve-caption").textContent = `Frames of ${report_text__knob_text("size", found[state.side].scenario.knobs.get("size"))} at random times on this path, whatever the workload above. Line: mean; ${band}: p50 to p99; dashed upright line: capacity, ${capacities}. Beyond it the ring is full and frames are lost.`;
  byId("curve").setAttribute("role", "img");
  byId("curve").setAttribute("aria-label", `Latency over offered load: mean from ${spoken(data[1].find((v) => v !== null))} to ${spoken(data[1].findLast((v) => v !== null))} microseconds, capacity ${capacities}. The table below has the values.`);
  later("curve-table", () => table(byId("curve-table"), ["offered [packets/s]", ...series.slice(1).map((s) => `${s.label} [µs]`)], data, []));
}

// tables are filled when somebody opens them

const waiting = new Map();

function later(id, fillTable) {
  const details = byId(id).closest("details");
  waiting.set(id, fillTable);
  if (details.open) fillTable();
  if (!details.dataset.bound) {
    details.dataset.bound = "1";
    details.addEventListener("toggle", () => details.open && waiting.get(id)());
  }
}

function table(box, heads, data, points) {
  const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", class: "num", text }))));
  const body = make("tbody");
  data[0].forEach((x, i) => body.append(make("tr", {}, ...data.map((column) => make("td", { class: "num", text: column[i] === null ? "–" : String(Number(Number(column[i]).toPrecision(6))) })))));
  const children = [make("table", {}, make("caption", { class: "hidden", text: "Values of the chart" }), head, body)];
  if (points.length) {
    const measured = make("tbody");
    for (const [x, y, r] of points) measured.append(make("tr", {}, make("td", { class: "num", text: String(x) }), make("td", { class: "num", text: String(Number(y.toPrecision(6))) }), make("td", { text: r.source }), make("td", { text: r.note })));
    children.push(make("table", {}, make("caption", { text: "Measured" }), make("thead", {}, make("tr", {}, ...[heads[0], "measured", "source", "note"].map((text) => make("th", { scope: "col", text })))), measured));
  }
  box.replaceChildren(...children);
}
