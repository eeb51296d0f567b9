// Between the printed model and the page: tables as Maps, questions as scenarios. No formula stands here.

const $known = {
  facts: null,
  tables: new Map(),
  profiles: new Map(),
};

function $mapped(x) {
  if (Array.isArray(x)) return x.map($mapped);
  if (x === null || typeof x !== "object") return x;
  return new Map(Object.entries(x).map(([key, value]) => [key, $mapped(value)]));
}

const $page = {
  table: (name) => $get($known.tables, name),
  devices: () => $get($known.tables, "devices.toml"),
  formulas: () => ({ STAGES, TRAFFIC }),
  profile: (name) => $get($known.profiles, name),
  scalar() { // asked at every elementary function, hence without a list of what is asked about
    for (let i = 0; i < arguments.length; i++) if (!$is.number(arguments[i])) return false;
    return true;
  },
  ownPath: () => {
    throw new $Raised("ConfigError", "a path of a file");
  },
};

function $profile(given) {
  const values = Object.entries(given.values).map(([name, value]) => [name, new core_records__Value(value)]);
  const seen = Object.entries(given.seen).map(([name, value]) => [name, new core_records__Seen(value)]);
  return new core_records__Profile({
    ...given,
    machine: $mapped(given.machine),
    drivers: $mapped(given.drivers),
    defaults: $mapped(given.defaults),
    values: new Map(values),
    seen: new Map(seen),
  });
}

function learn(facts) {
  $known.facts = facts;
  $known.tables = new Map(Object.entries({ ...facts.tables, "devices.toml": facts.devices }).map(([k, v]) => [k, $mapped(v)]));
  $known.profiles = new Map(facts.profiles.map((p) => [p.name, $profile(p)]));
}

// the settings of a path on a machine before anything is chosen
function standardKnobs(path, profile) {
  const knobs = new Map();
  for (const [name, knob] of library_tables__knobs()) knobs.set(name, knob.default === null ? null : Number(knob.default));
  for (const [name, value] of Object.entries($known.facts.defaults[path][profile])) knobs.set(name, value);
  return knobs;
}

// asked: { path, topology, workload, direction, profile, peer, device, load, knobs, parameters }
function scenarioOf(asked) {
  const knobs = standardKnobs(asked.path, asked.profile);
  for (const [name, value] of Object.entries(asked.knobs)) knobs.set(name, value === null ? null : Number(value));
  return new core_records__Scenario({
    path: asked.path,
    peer: asked.peer ?? $known.facts.peers[asked.path][asked.topology][0],
    topology: asked.topology,
    workload: asked.workload,
    direction: asked.direction,
    knobs,
    chosen: Object.keys(asked.knobs),
    load: new core_records__Load(asked.load === null ? {} : asked.load),
    profile: $get($known.profiles, asked.profile),
    parameters: new Map(Object.entries(asked.parameters)),
    device: asked.device ?? null,
  });
}

function predict(asked) {
  return solve_solver__predict(scenarioOf(asked));
}

// the answer without its interval and sources, which cost the most: for curves
function outcome(scenario) {
  return solve_solver__solve(scenario, solve_compose__parameter_values(scenario)).outcome;
}

// a record of the page as plain JSON
function plainOf(x) {
  if (x instanceof Map) return Object.fromEntries([...x].map(([key, value]) => [key, plainOf(value)]));
  if (Array.isArray(x)) return x.map(plainOf);
  return x;
}
