// The form: what a person moves. Every control is an ordinary one with a label; values are text, never markup.

const STEPS = 240; // positions of a slider
const MAIN = ["size", "load", "rx_usecs", "batch", "queues", "flows", "vcpus", "in_flight", "mtu", "link_gbps", "ring_size"];
const REACH = { // where sliders end; the number beside a slider takes everything that is allowed
  size: [1, 1048576], rx_usecs: [0, 1000], pf_rx_usecs: [0, 1000], rx_frames: [0, 512], batch: [1, 512],
  descriptor_batch: [0, 512], queues: [1, 64], flows: [1, 4096], vcpus: [1, 64], in_flight: [1, 256], mtu: [68, 65535],
  link_gbps: [0.1, 400], ring_size: [16, 8192], busy_poll: [0, 1000], halt_poll: [0, 1000], worker_poll: [0, 1000],
  interrupt_batch: [1, 256], burst: [1, 256], arrival_scv: [0, 16], socket_buffer_bytes: [1024, 16777216],
  rx_buffer_bytes: [64, 1048576], page_bytes: [512, 2097152], segment_limit_bytes: [1024, 1048576],
};
const LOAD_REACH = [1e3, 1e8];
const COST_REACH = 10;
const CLOSE_TO_ZERO = { microseconds: 0.5, count: 1, number: 0.05, size: 1, bitrate: 0.1 };
const NAMES = { link_gbps: "link", rx_usecs: "rx-usecs", load: "offered load" };

function byId(id) {
  return document.getElementById(id);
}

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function titleOf(name) {
  return NAMES[name] ?? name.replaceAll("_", " ");
}

// sliders: even steps of the logarithm, with zero at the left end where a setting can be zero

function reachOf(name) {
  const knob = library_tables__knobs().get(name);
  const [low, high] = REACH[name] ?? [knob.least, knob.most];
  return [Math.max(low, knob.least), Math.min(high, knob.most), CLOSE_TO_ZERO[knob.kind]];
}

function valueAt(position, [low, high, small], whole) {
  if (low === 0 && position === 0) return 0;
  const first = low === 0 ? small : low;
  const share = low === 0 ? (position - 1) / (STEPS - 1) : position / STEPS;
  const value = first * (high / first) ** share;
  return whole ? Math.round(value) : Number(value.toPrecision(3));
}

function positionOf(value, [low, high, small]) {
  if (value <= low) return 0;
  const first = low === 0 ? small : low;
  const share = Math.log(Math.max(value, first) / first) / Math.log(high / first);
  return Math.round(low === 0 ? 1 + share * (STEPS - 1) : share * STEPS);
}

function shown(value) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(6)));
}

// one row of the form

function row(id, label, hint) {
  const box = make("div", { class: "knob" });
  const title = make("label", { for: `${id}-number`, id: `${id}-label`, text: label });
  const number = make("input", { type: "number", id: `${id}-number`, step: "any", inputmode: "decimal" });
  const back = make("button", { type: "button", class: "back", text: "↺", "aria-label": `${label}: back to the default`, title: "back to the default" });
  const slider = make("input", { type: "range", id: `${id}-slider`, min: 0, max: STEPS, step: 1, "aria-labelledby": `${id}-label` });
  box.append(title, number, back, slider);
  if (hint) {
    box.append(make("p", { class: "hint", id: `${id}-hint`, text: hint }));
    number.setAttribute("aria-describedby", `${id}-hint`);
  }
  return { box, title, number, back, slider };
}

function numberRow(name) {
  const knob = library_tables__knobs().get(name);
  const reach = reachOf(name);
  const whole = knob.kind === "count" || knob.kind === "size" || (knob.kind === "number" && reach[1] > 32 && reach[0] >= 1);
  const parts = row(`knob-${name}`, titleOf(name) + (knob.unit && knob.unit.toLowerCase() !== name ? ` [${knob.unit === "us" ? "µs" : knob.unit}]` : ""), knob.about);
  parts.number.min = knob.least;
  parts.number.max = knob.most;
  const put = (value) => {
    const settled = legal(name, value);
    if (settled === undefined) return;
    current().knobs[name] = settled;
    changed();
  };
  parts.slider.addEventListener("input", () => put(valueAt(Number(parts.slider.value), reach, whole)));
  parts.number.addEventListener("change", () => put(parts.number.value));
  parts.back.addEventListener("click", () => {
    delete current().knobs[name];
    changed();
    parts.number.focus();
  });
  const refresh = (scenario) => {
    const value = scenario.knobs.get(name);
    const fixed = endOf(current().path).fixed.has(name);
    if (document.activeElement !== parts.number) parts.number.value = shown(value);
    parts.number.placeholder = value === null ? "default" : "";
    parts.slider.value = positionOf(value ?? 0, reach);
    parts.slider.setAttribute("aria-valuetext", value === null ? "the default of the driver or device" : plainText(report_text__knob_text(name, value)));
    parts.number.disabled = parts.slider.disabled = fixed;
    parts.back.disabled = !(name in current().knobs);
    parts.box.classList.toggle("chosen", name in current().knobs);
  };
  return { name, box: parts.box, refresh };
}

function switchRow(name) {
  const knob = library_tables__knobs().get(name);
  const box = make("div", { class: "knob" });
  const id = `knob-${name}`;
  const select = make("select", { id: `${id}-select`, "aria-describedby": `${id}-hint` });
  const back = make("button", { type: "button", class: "back", text: "↺", "aria-label": `${titleOf(name)}: back to the default`, title: "back to the default" });
  box.append(make("label", { for: `${id}-select`, text: titleOf(name) }), select, back, make("p", { class: "hint", id: `${id}-hint`, text: knob.about }));
  select.addEventListener("change", () => {
    if (select.value === "") delete current().knobs[name];
    else current().knobs[name] = Number(select.value);
    changed();
  });
  back.addEventListener("click", () => {
    delete current().knobs[name];
    changed();
    select.focus();
  });
  const refresh = (scenario) => {
    const value = scenario.knobs.get(name);
    const options = [["1", "on"], ["0", "off"]];
    if (knob.default === null) options.unshift(["", "default"]);
    fill(select, options, value === null ? "" : String(value));
    select.disabled = endOf(current().path).fixed.has(name);
    back.disabled = !(name in current().knobs);
    box.classList.toggle("chosen", name in current().knobs);
  };
  return { name, box, refresh };
}

function loadRow() {
  const parts = row("load", "offered load [packets/s]", "Empty: as fast as possible. Acts on packets.");
  const reach = [...LOAD_REACH, 1];
  const put = (value) => {
    const number = Number(value);
    current().load = value !== "" && Number.isFinite(number) && number > 0 ? { kind: "rate_pps", value: number } : null;
    changed();
  };
  parts.slider.addEventListener("input", () => put(valueAt(Number(parts.slider.value), reach, true)));
  parts.number.addEventListener("change", () => put(parts.number.value));
  parts.back.addEventListener("click", () => {
    current().load = null;
    changed();
    parts.number.focus();
  });
  parts.number.min = 0;
  const refresh = (scenario) => {
    const asked = current();
    const rate = asked.load === null ? null : asked.load.kind === "rate_pps" ? asked.load.value : asked.load.value / (8 * scenario.knobs.get("size"));
    if (document.activeElement !== parts.number) parts.number.value = shown(rate);
    parts.number.placeholder = "max";
    parts.slider.value = rate === null ? STEPS : positionOf(rate, reach);
    parts.slider.setAttribute("aria-valuetext", plainText(report_text__load_text(scenario)));
    parts.number.disabled = parts.slider.disabled = asked.workload !== "packets";
    parts.back.disabled = asked.load === null;
    parts.box.classList.toggle("chosen", asked.load !== null);
    parts.box.classList.toggle("idle", asked.workload !== "packets");
  };
  return { name: "load", box: parts.box, refresh };
}

function costRow(name) {
  const prior = library_tables__priors().get(name);
  const parts = row(`cost-${name}`, `${name} [${prior.unit || "-"}]`, prior.about);
  const own = () => library_profile__value_of($get($known.profiles, current().profile), name).value;
  const put = (value) => {
    if (!(Number.isFinite(value) && value > 0)) return;
    current().parameters[name] = value;
    changed();
  };
  const half = STEPS / 2;
  parts.slider.addEventListener("input", () => put(Number((own() * COST_REACH ** (Number(parts.slider.value) / half - 1)).toPrecision(4))));
  parts.number.addEventListener("change", () => put(Number(parts.number.value)));
  parts.back.addEventListener("click", () => {
    delete current().parameters[name];
    changed();
    parts.number.focus();
  });
  const refresh = () => {
    const value = current().parameters[name] ?? own();
    if (document.activeElement !== parts.number) parts.number.value = Number(value.toPrecision(5));
    parts.slider.value = Math.round((Math.log(value / own()) / Math.log(COST_REACH) + 1) * half);
    parts.slider.setAttribute("aria-valuetext", `${Number(value.toPrecision(3))} ${prior.unit}`);
    parts.back.disabled = !(name in current().parameters);
    parts.box.classList.toggle("chosen", name in current().parameters);
  };
  return { name, box: parts.box, refresh };
}

// lists

function fill(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.options !== key) {
    select.dataset.options = key;
    select.replaceChildren(...options.map(([v, text]) => make("option", { value: v, text })));
  }
  select.value = value;
}

const rows = [];
const costRows = [];

function buildControls() {
  const knobs = [...library_tables__knobs().keys()];
  for (const name of MAIN) rows.push(name === "load" ? loadRow() : numberRow(name));
  byId("main-knobs").append(...rows.map((r) => r.box));
  const others = knobs.filter((name) => !MAIN.includes(name)).map((name) => (library_tables__knobs().get(name).kind === "switch" ? switchRow(name) : numberRow(name)));
  byId("more-knobs").append(...others.map((r) => r.box));
  rows.push(...others);
  for (const name of CHOICES) {
    byId(name).addEventListener("change", () => choose(name, byId(name).value));
  }
  byId("series").addEventListener("change", () => chooseSeries(byId("series").value));
}

function choose(name, value) {
  const side = state.side;
  const asked = { ...current(), [name]: value === "" ? null : value };
  if (name === "path") {
    const fresh = standard(value);
    state[side] = completed({ ...asked, topology: endOf(value).topologies.includes(asked.topology) ? asked.topology : fresh.topology, peer: null, device: null, profile: fresh.profile });
  } else {
    if (name === "topology") asked.peer = null;
    state[side] = completed(asked);
  }
  changed();
}

function refreshControls(scenario) {
  const asked = current();
  const facts = $known.facts;
  const end = endOf(asked.path);
  const plain = (list) => list.map((x) => [x, x]);
  fill(byId("path"), plain(library_tables__path_names()), asked.path);
  byId("path-title").textContent = end.title + (end.since ? ` (since ${end.since})` : "");
  fill(byId("topology"), plain(end.topologies), asked.topology);
  fill(byId("profile"), plain([...$known.profiles.keys()]), asked.profile);
  const profile = $get($known.profiles, asked.profile);
  byId("profile-title").textContent = profile.title;
  fill(byId("workload"), [["rr", "rr: round trips"], ["stream", "stream: bulk"], ["packets", "packets: frames at a load"]], asked.workload);
  fill(byId("direction"), [["to-vm", "to the VM"], ["from-vm", "from the VM"]], asked.direction);
  fill(byId("peer"), facts.peers[asked.path][asked.topology].map((p, i) => [p, i ? p : `${p} (usual)`]), asked.peer);
  fill(byId("device"), [["", "as on this machine"], ...[...library_moderation__devices()].map(([n, d]) => [n, `${n}: ${d.title}`])], asked.device ?? "");
  const series = seriesOf(asked.path);
  fill(byId("series"), [["", series.length ? "–" : "nothing of this path"], ...series.map((s) => [s.name, `${s.name} (${s.rows.length})`])], "");
  byId("series").disabled = series.length === 0;
  byId("which").hidden = state.b === null;
  byId("compare").setAttribute("aria-pressed", String(state.b !== null));
  byId("compare").textContent = state.b === null ? "Compare two" : "Compare: on";
  for (const input of document.getElementsByName("side")) input.checked = input.value === state.side;
  for (const r of rows) r.refresh(scenario);
  for (const r of costRows) r.refresh(scenario);
}

// the costs that an answer rests on, sorted by how much they matter; the list stays while only settings move
function refreshCosts(prediction, key) {
  const box = byId("cost-knobs");
  if (box.dataset.key === key || !byId("costs").open) return;
  box.dataset.key = key;
  const order = [...prediction.elasticities].filter(([, e]) => e !== 0).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  costRows.splice(0, costRows.length, ...order.map(([name]) => costRow(name)));
  box.replaceChildren(...costRows.map((r) => r.box));
  for (const r of costRows) r.refresh();
}
