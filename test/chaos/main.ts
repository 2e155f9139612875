import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundleWorker } from "./harness/bundle.ts";
import { check } from "./harness/checks.ts";
import { digestOf } from "./harness/journal.ts";
import { type Kill, nameOf } from "./harness/kill.ts";
import { Random } from "./harness/random.ts";
import { type Outcome, type Spectator, trial, VAR_NAMES } from "./harness/trial.ts";
import { killPlans, type Plan } from "./kill-points.ts";
import { type Case, runCases, type Tally } from "./runner.ts";
import { SCENARIOS } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { Statistics } from "./statistics.ts";

// Kills the service with SIGKILL, over and over, and looks whether anybody could tell.
//
//   node test/chaos/main.ts [--long] [--seconds 15] [--seed 1] [--only <part of a name>]
//
// Kills at named points first, then at random times for so many seconds. --long kills at every point there is.
const { values } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    seconds: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", default: "" },
  },
});
const { long, only } = values;
const seconds = Number(values.seconds ?? (long ? 600 : 15));
const seed = Number(values.seed);
/** Trials wait more than they compute. */
const PARALLEL = 3;

const scratch = mkdtempSync(join(tmpdir(), "troupe-chaos-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const config = await bundleWorker(scratch, VAR_NAMES);

const tally: Tally = { passed: 0, failed: 0 };
const statistics = new Statistics();
const references = new Map<Scenario, Outcome>();

function runTrial(scenario: Scenario, plan: Plan): Promise<Outcome> {
  const { kills, spectator } = plan;
  return trial({ scratch, config, scenario, plan: kills, spectator });
}

/** Without kills; what the scenario's other runs are compared with. One that is stopped is compared with one that is not. */
async function reference(scenario: Scenario): Promise<Outcome> {
  const known = references.get(scenario);
  if (known !== undefined) return known;
  const { stop: _stop, ...whole } = scenario;
  const outcome = await runTrial(whole, { kills: [], spectator: "stays" });
  references.set(scenario, outcome);
  return outcome;
}

function trialCase(scenario: Scenario, { kills, spectator }: Plan): Case {
  const name = `${scenario.name}: ${kills.map(nameOf).join(", ") || "no kill"}; client ${spectator}`;
  return {
    name,
    async run() {
      const expected = await reference(scenario);
      const outcome = await runTrial(scenario, { kills, spectator });
      const problems = check(scenario, outcome, expected);
      statistics.add(outcome, problems, new Set(outcome.requests.map(digestOf)).size);
      const missed = kills.length > 0 && outcome.killed.length === 0 && reliable(scenario, kills);
      return missed ? [...problems, "the kill did not take place"] : problems;
    },
  };
}

/** Whether the run must come to the first kill. */
function reliable(scenario: Scenario, [first]: readonly Kill[]): boolean {
  return first?.at === "write" && scenario.stop === undefined;
}

function* namedCases(): Generator<Case, void, void> {
  for (const scenario of SCENARIOS) {
    yield trialCase(scenario, { kills: [], spectator: "absent" });
    const known = references.get(scenario);
    if (known === undefined) continue;
    for (const plan of killPlans(known, long)) yield trialCase(scenario, plan);
  }
}

/** Kills at times that the seed determines, until the time is over. */
function* randomCases(): Generator<Case, void, void> {
  const random = new Random(seed);
  const end = performance.now() + seconds * 1000;
  const spectators: readonly Spectator[] = ["absent", "leaves", "stays"];
  for (let number = 1; performance.now() < end; number++) {
    const kills = Array.from({ length: random.integer(1, 4) }, (): Kill => ({
      at: "time",
      ms: random.integer(10, 600),
    }));
    const plan = { kills, spectator: random.pick(spectators) };
    yield trialCase(random.pick(SCENARIOS), plan);
  }
}

const matching = function* (cases: Iterable<Case>): Generator<Case, void, void> {
  for (const one of cases) if (one.name.includes(only)) yield one;
};

console.log(`seed ${seed}`);
for (const scenario of SCENARIOS) await reference(scenario);
await runCases(matching(namedCases()), PARALLEL, tally);
await runCases(matching(randomCases()), PARALLEL, tally);
console.log(String(statistics));
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed > 0 ? 1 : 0);
