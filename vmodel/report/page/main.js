// What happens when: a move is computed once per frame, figures and charts together; the rest waits until the hand rests.

const REST_MS = 350;
const SLOW_MS = 45; // computing and drawing may take so long before lines get fewer points
const COARSEST = 0.35;
const SLICE_MS = 12; // of work between two looks at whether something moved
const timings = []; // from a move to the repaint that shows it [ms], the latest last
const MOST_TIMINGS = 500;
let moved = null;
let resting = null;
let telling = null;
let found = {};

function changed() {
  if (moved === null) {
    moved = performance.now();
    requestAnimationFrame(paint);
  }
}

function paint() {
  const began = moved;
  const computed = performance.now();
  moved = null;
  found = {};
  for (const s of sides()) found[s] = predict(state[s]);
  const p = found[state.side];
  refreshControls(p.scenario);
  drawAnswer(found);
  drawWaterfall(found);
  drawBusy(found);
  refreshLists(p);
  drawCharts();
  drawCommands();
  const port = new MessageChannel();
  port.port1.onmessage = () => {
    timings.push(performance.now() - began);
    if (timings.length > MOST_TIMINGS) timings.shift();
  };
  requestAnimationFrame(() => port.port2.postMessage(null)); // after the frame that shows it
  const cost = performance.now() - computed;
  detail = cost > SLOW_MS ? Math.max(COARSEST, (detail * SLOW_MS) / cost) : Math.min(1, detail * 1.2);
  clearTimeout(resting);
  clearTimeout(telling);
  telling = null;
  resting = setTimeout(rest, REST_MS);
}

function drawCharts() {
  drawSweep(found);
  drawCurve(found);
}

function refreshLists(p) {
  fill(byId("sweep-x"), sweepable().map((name) => [name, titleOf(name)]), state.x);
  if (byId("sweep-x").value !== state.x) state.x = byId("sweep-x").value = "size";
  const answers = Object.entries(METRICS).filter(([, m]) => m.value(p) !== null).map(([name, m]) => [name, `${m.title} [${m.unit}]`]);
  fill(byId("sweep-y"), answers, metricOf(p));
}

function sweepable() {
  const asked = current();
  const fixed = endOf(asked.path).fixed;
  const knobs = [...library_tables__knobs().keys()].filter((name) => isSwept(name) && !fixed.has(name));
  const first = MAIN.filter((name) => knobs.includes(name));
  return [...(asked.workload === "packets" ? ["load"] : []), ...first, ...knobs.filter((name) => !first.includes(name))];
}

// what takes longer or would chatter while a slider moves
function rest() {
  resting = null;
  const p = found[state.side];
  const asked = current();
  if (detail < 1) {
    const coarse = detail;
    detail = 1;
    drawCharts();
    detail = coarse;
  }
  byId("verdict").textContent = verdict(p, asked);
  byId("live").textContent = sides().map((s) => (state.b ? `${s.toUpperCase()}: ` : "") + summary(found[s])).join("; ");
  const solved = solve_solver__solve(p.scenario, solve_compose__parameter_values(p.scenario));
  drawFormula(p, solved.words);
  drawSources(p);
  refreshCosts(p, `${asked.path} ${asked.topology} ${asked.workload} ${asked.profile} ${asked.peer} ${state.side}`);
  tellEffects(p.scenario);
  history.replaceState(null, "", addressOf());
}

// says of each setting of the form what it does here, or why it does nothing: as `vmodel explain` finds it, row by row,
// so that a hand that moves again is not kept waiting
function tellEffects(scenario) {
  clearTimeout(telling);
  const todo = rows.filter((r) => r.name !== "load" && (MAIN.includes(r.name) || byId("more").open));
  const next = () => {
    const began = performance.now();
    telling = null;
    while (todo.length && performance.now() - began < SLICE_MS) tellEffect(todo.shift(), scenario);
    if (todo.length) telling = setTimeout(next, 0);
  };
  telling = setTimeout(next, 0);
}

function tellEffect(row, scenario) {
  const [effect] = solve_explain__effects(scenario, [row.name]);
  const about = library_tables__knobs().get(row.name).about;
  const hint = row.box.querySelector(".hint");
  row.box.classList.toggle("idle", !effect.matters);
  hint.textContent = plainText(effect.matters ? `${report_explained__trials_text(effect)}; ${about}` : report_explained__reason_text(effect));
}

function begin() {
  learn(JSON.parse(byId("facts").textContent));
  buildControls();
  readAddress();
  byId("compare").addEventListener("click", () => {
    state.b = state.b === null ? clone(state.a) : null;
    state.side = state.b === null ? "a" : "b";
    changed();
  });
  byId("copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + addressOf(), byId("copy-link")));
  byId("reset").addEventListener("click", () => {
    history.replaceState(null, "", location.pathname);
    state.side = "a";
    readAddress();
    changed();
  });
  for (const input of document.getElementsByName("side")) {
    input.addEventListener("change", () => {
      state.side = input.value;
      changed();
    });
  }
  byId("sweep-x").addEventListener("change", () => {
    state.x = byId("sweep-x").value;
    changed();
  });
  byId("sweep-y").addEventListener("change", () => {
    state.y = byId("sweep-y").value;
    changed();
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["costs", "more"]) byId(id).addEventListener("toggle", () => rest());
  byId("figures-details").addEventListener("toggle", () => drawFigures(found));
  addEventListener("hashchange", () => {
    readAddress();
    changed();
  });
  addEventListener("resize", changed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  changed();
}

// for tests, and for people with a console
window.vmodel = {
  state,
  timings,
  moving: () => moved !== null,
  resting: () => moved !== null || resting !== null || telling !== null, // whether something is still to come
  predict: (asked) => plainOf(report_record__as_json(predict(asked))),
  command: (side = "a") => commandOf(state[side], "predict"),
  rows: () => $known.facts.rows,
};

begin();
