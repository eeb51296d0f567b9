// What is asked: one configuration or two, kept in the address of the page, and as a command.

const CHOICES = ["path", "topology", "workload", "direction", "profile", "peer", "device"];
const COST = "cost.";
const OTHER = "b.";

const state = { a: null, b: null, side: "a", x: "size", y: "" };

function current() {
  return state[state.side];
}

function sides() {
  return state.b === null ? ["a"] : ["a", "b"];
}

function endOf(path) {
  return library_tables__endpoint(path);
}

function clone(asked) {
  return { ...asked, knobs: { ...asked.knobs }, parameters: { ...asked.parameters } };
}

// a question with nothing chosen, where the path is best known
function standard(path) {
  const end = endOf(path);
  const profile = $known.profiles.has(end.best) ? end.best : "generic";
  return completed({ path, topology: end.topology, workload: end.workload, profile, knobs: {}, parameters: {} });
}

// every part that is missing or that cannot be is replaced by the usual one
function completed(given) {
  const facts = $known.facts;
  const path = library_tables__path_names().includes(given.path) ? given.path : facts.start.path;
  const end = endOf(path);
  const pick = (value, list, usual) => (list.includes(value) ? value : usual);
  const topology = pick(given.topology, end.topologies, end.topology);
  const asked = {
    path,
    topology,
    workload: pick(given.workload, facts.workloads, end.workload),
    direction: pick(given.direction, ["to-vm", "from-vm"], "to-vm"),
    profile: pick(given.profile, [...$known.profiles.keys()], $known.profiles.has(end.best) ? end.best : "generic"),
    peer: pick(given.peer, facts.peers[path][topology], facts.peers[path][topology][0]),
    device: pick(given.device, [...library_moderation__devices().keys()], null),
    load: given.load && given.load.value > 0 && Number.isFinite(given.load.value) ? { ...given.load } : null,
    knobs: {},
    parameters: {},
  };
  for (const [name, value] of Object.entries(given.knobs ?? {})) {
    const settled = legal(name, value);
    if (settled !== undefined && !end.fixed.has(name)) asked.knobs[name] = settled;
  }
  if (asked.knobs.zero_copy_rx && !asked.knobs.dedicated_nic) asked.knobs.dedicated_nic = 1;
  for (const [name, value] of Object.entries(given.parameters ?? {})) {
    if (library_tables__priors().has(name) && Number.isFinite(value) && value > 0) asked.parameters[name] = value;
  }
  return asked;
}

// a value that a setting can have, or undefined
function legal(name, value) {
  const knob = library_tables__knobs().get(name);
  const number = Number(value);
  if (!knob || value === "" || value === null || !Number.isFinite(number)) return undefined;
  if (knob.kind === "switch") return number ? 1 : 0;
  const held = Math.min(Math.max(number, knob.least), knob.most);
  return knob.kind === "count" ? Math.round(held) : held;
}

// the address

function fields(asked, prefix) {
  const out = [];
  for (const name of CHOICES) {
    const usual = name === "peer" ? $known.facts.peers[asked.path][asked.topology][0] : null;
    if (asked[name] !== null && asked[name] !== usual) out.push([prefix + name, asked[name]]);
  }
  if (asked.load) out.push([`${prefix}load`, loadText(asked.load)]);
  for (const [name, value] of Object.entries(asked.knobs)) out.push([prefix + name, String(value)]);
  for (const [name, value] of Object.entries(asked.parameters)) out.push([prefix + COST + name, String(value)]);
  return out;
}

function loadText(load) {
  return `${load.value}${load.kind === "throughput_bps" ? "bit/s" : "pps"}`;
}

function loadOf(text) {
  const found = /^([0-9.e+]+)(pps|bit\/s)$/.exec(text ?? "");
  return found ? { kind: found[2] === "pps" ? "rate_pps" : "throughput_bps", value: Number(found[1]) } : null;
}

function addressOf() {
  const pairs = fields(state.a, "");
  if (state.b) pairs.push(...fields(state.b, OTHER));
  pairs.push(["x", state.x], ["y", state.y]);
  return `#${new URLSearchParams(pairs)}`;
}

function asked_in(pairs, prefix) {
  const given = { knobs: {}, parameters: {} };
  for (const [key, value] of pairs) {
    if (!key.startsWith(prefix) || (prefix === "" && key.startsWith(OTHER))) continue;
    const name = key.slice(prefix.length);
    if (CHOICES.includes(name)) given[name] = value;
    else if (name === "load") given.load = loadOf(value);
    else if (name.startsWith(COST)) given.parameters[name.slice(COST.length)] = Number(value);
    else if (library_tables__knobs().has(name)) given.knobs[name] = value;
  }
  return given;
}

function readAddress() {
  const pairs = [...new URLSearchParams(location.hash.slice(1))];
  const has = (prefix) => pairs.some(([key]) => key === `${prefix}path`);
  state.a = has("") ? completed(asked_in(pairs, "")) : completed($known.facts.start);
  state.b = has(OTHER) ? completed(asked_in(pairs, OTHER)) : null;
  if (state.b === null) state.side = "a";
  const found = Object.fromEntries(pairs);
  state.x = found.x === "load" || isSwept(found.x) ? found.x : $known.facts.x ?? "size";
  state.y = found.y ?? "";
}

function isSwept(name) {
  const knob = library_tables__knobs().get(name);
  return knob !== undefined && knob.kind !== "switch";
}

// the command

function quoted(text) {
  return /^[A-Za-z0-9_./:=+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function commandOf(asked, verb) {
  const facts = $known.facts;
  const words = ["vmodel", verb, "--path", asked.path];
  const usual = facts.peers[asked.path][asked.topology][0];
  if (asked.peer !== usual) words.push("--peer", asked.peer);
  words.push("--topology", asked.topology, "--workload", asked.workload);
  if (asked.direction !== "to-vm") words.push("--direction", asked.direction);
  words.push("--profile", facts.files[asked.profile] ?? asked.profile);
  if (asked.device !== null) words.push("--device", asked.device);
  if (asked.load && asked.workload === "packets") words.push("--load", loadText(asked.load));
  for (const [name, value] of Object.entries(asked.knobs)) {
    const flag = facts.flags[name];
    const knob = library_tables__knobs().get(name);
    if (flag && knob.kind === "switch") words.push(value ? flag : flag.replace("--", "--no-"));
    else if (flag) words.push(flag, String(value));
    else words.push("--set", `${name}=${knob.kind === "switch" ? (value ? "on" : "off") : value}`);
  }
  for (const [name, value] of Object.entries(asked.parameters)) words.push("--set", `${name}=${value}`);
  return words.map(quoted).join(" ");
}

// whether measurements one way are not those of the other: not in a ping-pong, nor between two ends of a kind
function directed(asked) {
  return asked.workload !== "rr" && (asked.topology === "host-vm" || asked.topology === "cross-host-vm");
}
