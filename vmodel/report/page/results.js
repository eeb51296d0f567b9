// The answer in words, bars and formulas. Figures are written by the functions that write them on the command line.

const PATTERNS = 6;
const COLOURS = 8;
const METRICS = {
  latency_us: { title: "latency", unit: "µs", value: (p) => p.latency_s * units__US_PER_S, interval: (p) => p.latency_interval_s, scale: units__US_PER_S },
  throughput_mbps: { title: "throughput", unit: "Mbit/s", value: (p) => p.throughput_bps / 1e6, interval: (p) => p.throughput_interval_bps, scale: 1e-6 },
  rate_pps: { title: "packet rate", unit: "kpps", value: (p) => p.rate_pps / 1e3, interval: (p) => p.rate_interval_pps, scale: 1e-3 },
  transactions_per_s: { title: "transactions", unit: "1/s", value: (p) => p.transactions_per_s, interval: (p) => p.transactions_interval_per_s, scale: 1 },
  cpu_cores: { title: "CPU of host and guest", unit: "cores", value: (p) => p.cpu_host + p.cpu_guest, interval: () => null, scale: 1 },
};
const ROW_SCALE = { rate_pps: 1e-3 }; // what brings the unit of the observation files to that of the page

function plainText(text) {
  return text.replace(/(\d) us\b/g, "$1 µs").replaceAll(" us)", " µs)");
}

// measured points

function seriesOf(path) {
  const found = new Map();
  for (const row of $known.facts.rows) {
    if (row.path !== path) continue;
    const name = row.series || "single points";
    const key = `${name} · ${row.topology}`;
    if (!found.has(key)) found.set(key, { name: key, rows: [] });
    found.get(key).rows.push(row);
  }
  return [...found.values()];
}

// sets everything as it was measured; what varies within the series goes to the horizontal axis
function chooseSeries(name) {
  const found = seriesOf(current().path).find((s) => s.name === name);
  if (!found) return;
  const first = found.rows[0];
  const varying = Object.keys(first.knobs).filter((k) => isSwept(k) && new Set(found.rows.map((r) => r.knobs[k])).size > 1);
  state[state.side] = completed({ ...first, load: first.load });
  if (varying.length) state.x = varying.includes("size") ? "size" : varying[0];
  state.y = first.metric;
  changed();
}

function sameQuestion(row, asked) {
  return ["path", "topology", "workload", "profile", "peer"].every((k) => row[k] === asked[k]) && (!directed(asked) || row.direction === asked.direction);
}

// how far the model is from the measurements of this path and workload on this machine, at the profile's own costs
const misses = new Map();

function missOf(asked) {
  const key = `${asked.path} ${asked.workload} ${asked.profile}`;
  if (!misses.has(key)) {
    const rows = $known.facts.rows.filter((r) => r.path === asked.path && r.workload === asked.workload && r.profile === asked.profile);
    const errors = rows.map((r) => Math.abs(METRICS[r.metric].value(predict(r)) / (r.value * (ROW_SCALE[r.metric] ?? 1)) - 1)).sort((a, b) => a - b);
    misses.set(key, { rows: rows.length, median: errors.length ? errors[Math.floor((errors.length - 1) / 2)] : null });
  }
  return misses.get(key);
}

function verdict(p, asked) {
  const { rows: count, median } = missOf(asked);
  const close = count ? `Compared with ${count} measured ${count === 1 ? "point" : "points"} of this path and workload on this machine: half of them lie within ${units__format_share(median, 0.001)} of the model (fitted to them).`
    : "No measurement of this path and workload on this machine is known: the interval says how little is sure.";
  return `${close} Standing: ${report_text__standing_text(p)}.`;
}

// the answer

function fact(label, value, note, extra = "") {
  const box = make("div", { class: `fact ${extra}` });
  box.append(make("div", { class: "label", text: label }), make("div", { class: "value", text: plainText(value) }));
  if (note) box.append(make("div", { class: "note-line", text: plainText(note) }));
  return box;
}

function headlineOf(p, side) {
  const box = make("div", { class: "headline", "data-side": side });
  if (state.b) box.append(make("p", { class: "row-title", text: side === "a" ? "A (solid)" : "B (dashed)" }));
  const extra = side === "b" ? "b" : "";
  const cut = (text) => text.replace(/ \(90 %: /, "|90 % ").replace(/\)$/, "").split("|");
  const known = new Map(report_text__answers(p).filter(([name]) => name));
  const order = p.scenario.workload === "rr" ? ["latency", "transactions", "throughput"] : p.scenario.workload === "stream" ? ["throughput", "packet rate", "latency"] : ["packet rate", "latency", "throughput"];
  order.forEach((name, i) => {
    const [value, interval] = cut(known.get(name));
    const more = name === "latency" ? [interval, `p99 ${units__format_seconds(p.percentiles_s.get(0.99), p.percentiles_s.get(0.99) * report_text__latency_log_sd(p))}`].join("; ") : interval;
    const node = fact(name, value, more, `${extra} ${i ? "minor" : ""}`);
    node.dataset.name = name;
    box.append(node);
  });
  const [bottleneck, spare] = known.get("bottleneck").split(", ");
  const last = fact("bottleneck", bottleneck, [spare, p.saturated ? "saturated" : ""].filter(Boolean).join("; "), `${extra} minor`);
  last.dataset.name = "bottleneck";
  box.append(last);
  return box;
}

function drawAnswer(found) {
  const p = found[state.side];
  byId("question").textContent = sides().map((s) => (state.b ? `${s.toUpperCase()}: ` : "") + report_text__question(found[s].scenario)).join("; ");
  byId("headline").replaceChildren(...sides().map((s) => headlineOf(found[s], s)));
  if (state.b) byId("headline").append(make("p", { id: "ratio", text: ratioText(found) }));
  const warnings = sides().flatMap((s) => found[s].warnings.map((w) => (state.b ? `${s.toUpperCase()}: ${w}` : w)));
  byId("warnings").replaceChildren(...warnings.map((w) => make("li", { text: plainText(w) })));
  if (byId("figures-details").open) drawFigures(found);
  byId("strip-text").textContent = sides().map((s) => (state.b ? `${s.toUpperCase()} ` : "") + short(found[s])).join(" · ");
  byId("digest").textContent = `${p.scenario.profile.name}, digest ${$known.facts.digests[p.scenario.profile.name]}`;
}

function drawFigures(found) {
  const body = make("tbody");
  const tables = sides().map((s) => report_text__answers(found[s]).map(([name, text]) => [name || "percentiles", text]));
  for (const name of new Set(tables.flat().map(([n]) => n))) {
    const cells = tables.map((t) => make("td", { text: plainText(t.find(([n]) => n === name)?.[1] ?? "–") }));
    body.append(make("tr", {}, make("th", { scope: "row", text: name }), ...cells));
  }
  const table = make("table", {}, make("caption", { class: "hidden", text: "All figures of the answer" }), body);
  if (state.b) table.prepend(make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "figure" }), make("th", { scope: "col", text: "A" }), make("th", { scope: "col", text: "B" }))));
  byId("figures").replaceChildren(table);
}

function ratioText({ a, b }) {
  const metric = a.scenario.workload === "rr" ? METRICS.latency_us : METRICS.throughput_mbps;
  if (a.scenario.workload !== b.scenario.workload) return "A and B are different workloads: their figures are not compared.";
  const [x, y] = [metric.value(a), metric.value(b)];
  const [p, q] = [metric.interval(a), metric.interval(b)];
  const apart = p.high < q.low || q.high < p.low;
  return `B has ${(y / x).toPrecision(3)} times the ${metric.title} of A; ${apart ? "the intervals do not overlap: they differ." : "the intervals overlap: whether they differ is not sure."}`;
}

function short(p) {
  const text = p.scenario.workload === "rr" ? units__format_seconds(p.latency_s, p.latency_s * report_text__latency_log_sd(p)) : units__format_bitrate(p.throughput_bps, p.throughput_bps * p.log_sd);
  return plainText(text);
}

function summary(p) {
  const known = new Map(report_text__answers(p).filter(([name]) => name));
  const first = p.scenario.workload === "rr" ? "latency" : "throughput";
  return `${first} ${known.get(first)}, bottleneck ${known.get("bottleneck")}`.replaceAll(" us", " microseconds");
}

// bars

// one look for each resource in all pictures, of both configurations
function resourceLook(found) {
  const kinds = [...new Set(sides().flatMap((s) => [...found[s].busy.keys()]))].sort();
  return (resource) => {
    const i = kinds.indexOf(resource);
    return i < 0 ? { colour: "var(--delay)", pattern: "" } : { colour: `var(--r${i % COLOURS})`, pattern: i % PATTERNS ? `h${i % PATTERNS}` : "" };
  };
}

function key(look) {
  const box = make("span", { class: `key ${look.pattern}`, "aria-hidden": "true" });
  box.style.background = look.colour;
  return box;
}

function bar(start, length, total, look, extra = "") {
  const track = make("div", { class: "track", "aria-hidden": "true" });
  const mark = make("i", { class: `${look.pattern} ${extra}` });
  mark.style.left = `${(100 * start) / total}%`;
  mark.style.width = `${(100 * length) / total}%`;
  mark.style.background = look.colour;
  track.append(mark);
  return track;
}

function drawWaterfall(found) {
  const looks = resourceLook(found);
  const longest = Math.max(...sides().map((s) => found[s].latency_s * units__US_PER_S));
  byId("waterfall").replaceChildren(make("div", { class: state.b ? "sides" : "" }, ...sides().map((s) => waterfall(found[s], s, looks, longest))));
}

function waterfall(p, side, looks, longest) {
  const body = make("tbody");
  let start = 0;
  const lines = report_text__breakdown_rows(p);
  for (const [name, resource, us, share] of lines.slice(0, -1)) {
    const look = looks(resource);
    const length = Number(us);
    body.append(make("tr", {},
      make("th", { scope: "row" }, key(look), name.replaceAll("_", " ")),
      make("td", { class: "resource", text: resource === "-" ? "nobody (waiting)" : resource }),
      make("td", { class: "num", text: us }), make("td", { class: "num share", text: share }),
      make("td", { class: "bar" }, bar(start, length, longest, look))));
    start += length;
  }
  const sum = lines[lines.length - 1];
  body.append(make("tr", {}, make("th", { scope: "row", text: "sum" }), make("td", { class: "resource" }), make("td", { class: "num", text: sum[2] }), make("td", { class: "num share", text: sum[3] }), make("td")));
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "stage" }), make("th", { scope: "col", class: "resource", text: "who is busy" }), make("th", { scope: "col", class: "num", text: "µs" }), make("th", { scope: "col", class: "num share", text: "share" }), make("th", { scope: "col", text: "when" })));
  const title = state.b ? `${side === "a" ? "A (solid)" : "B (dashed)"}: ` : "";
  return make("div", {}, make("table", { class: "bars", "data-side": side }, make("caption", { text: `${title}${plainText(units__format_seconds(p.latency_s, p.latency_s * report_text__latency_log_sd(p)))} on average` }), head, body));
}

function drawBusy(found) {
  const looks = resourceLook(found);
  const tables = sides().map((s) => {
    const p = found[s];
    const body = make("tbody");
    const most = Math.max(1, ...p.busy.values());
    for (const [name, share] of [...p.busy].sort(([, x], [, y]) => y - x).filter(([, v]) => v >= 0.0005)) {
      const bottleneck = name === p.bottleneck;
      body.append(make("tr", {},
        make("th", { scope: "row" }, key(looks(name)), bottleneck ? make("strong", { text: `${name} – bottleneck` }) : name),
        make("td", { class: "num", text: units__format_share(share, 0.001) }),
        make("td", { class: "bar" }, bar(0, share, most, looks(name)))));
    }
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "resource" }), make("th", { scope: "col", class: "num", text: "busy" }), make("th", { scope: "col", text: "share of time" })));
    const other = p.busy.has(p.bottleneck) ? "" : `; the bottleneck is none of them: ${p.bottleneck}`;
    return make("table", { class: "bars" }, make("caption", { text: `${state.b ? `${s.toUpperCase()}: ` : ""}${p.regime}${other}` }), head, body);
  });
  byId("busy").replaceChildren(make("div", { class: state.b ? "sides" : "" }, ...tables.map((t) => make("div", {}, t))));
}

// formulas, commands, sources

function drawFormula(p, words) {
  const law = $known.facts.laws[p.scenario.workload];
  const parameters = solve_compose__parameter_values(p.scenario);
  const body = make("tbody");
  const used = new Map();
  const stages = new Map(p.shares.filter((r) => STAGES.has(r.stage) && r.seconds > 0).map((r) => [r.stage, r]));
  for (const [stage, share] of stages) {
    const [, , , names, costs] = STAGES.get(stage);
    for (const name of names) used.set(name, words.get(name));
    for (const name of costs) used.set(name, parameters.get(name));
    body.append(make("tr", { title: STAGES.get(stage)[9] }, make("th", { scope: "row", text: `t_${stage}` }), make("td", {}, make("code", { text: FORMULAS[stage] })), make("td", { class: "num", text: plainText(units__format_seconds(share.seconds)) })));
  }
  const head = make("thead", {}, make("tr", {}, ...["stage", "seconds per message", "now"].map((text, i) => make("th", { scope: "col", class: i === 2 ? "num" : null, text }))));
  const values = [...used].sort(([x], [y]) => (x < y ? -1 : 1)).map(([name, value]) => `${name} = ${siNumber(Number(value))}`).join(", ");
  byId("formula").replaceChildren(
    make("p", { class: "law", text: law }),
    make("p", {}, make("code", { text: `${p.scenario.workload === "rr" ? "latency" : "transit"} = ${[...stages.keys()].map((s) => `t_${s}`).join(" + ")}` })),
    make("p", { class: "hint", text: p.regime }),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Formulas of the stages" }, make("table", { class: "formulas" }, make("caption", { text: "The formula of each stage, as it is printed from the library" }), head, body)),
    make("p", { class: "hint", text: `With, in SI units: ${values}.` }));
}

function siNumber(value) {
  const rounded = Number(value.toPrecision(5));
  return rounded !== 0 && (Math.abs(rounded) < 1e-3 || Math.abs(rounded) >= 1e7) ? rounded.toExponential() : String(rounded);
}

function drawCommands() {
  const box = byId("commands");
  const list = sides().map((s) => {
    const command = commandOf(state[s], "predict");
    const button = make("button", { type: "button", text: "Copy", "aria-label": `Copy the command${state.b ? ` of ${s.toUpperCase()}` : ""}` });
    button.addEventListener("click", () => copy(command, button));
    return make("div", { class: "command" }, make("pre", {}, make("code", { "data-side": s, text: command })), button);
  });
  box.replaceChildren(...list, make("p", { class: "hint", text: "It prints the same figures. With explain in place of predict: the closed form, and what each setting does." }));
}

function drawSources(p) {
  byId("sources").replaceChildren(...p.sources.map((name) => {
    const source = library_tables__references().get(name);
    const parts = source ? [source.authors.join(", "), source.title, source.venue, source.year, source.url] : [];
    return make("li", { text: `${parts.filter(Boolean).join(". ")} [${name}]` });
  }));
}

function copy(text, button) {
  const done = () => {
    const before = button.textContent;
    button.textContent = "Copied";
    byId("live").textContent = "Copied";
    setTimeout(() => (button.textContent = before), 1200);
  };
  const byHand = () => {
    const area = make("textarea", { class: "hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
    done();
  };
  if (navigator.clipboard?.writeText) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}
