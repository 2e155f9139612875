import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Sandbox } from "../support/sandbox.ts";
import { configOfWorker } from "../support/workerd-config.ts";
import { Random } from "./harness/random.ts";
import { VAR_NAMES } from "./harness/trial.ts";
import { allPlans, somePlans, type Tried } from "./kill-points.ts";
import { queueCases } from "./queue.ts";
import { ResetCases } from "./resets/cases.ts";
import { type Case, Runner } from "./runner.ts";
import { sandboxCases } from "./sandbox-dies.ts";
import { SCENARIOS } from "./scenarios/all.ts";
import { scheduleCases } from "./schedules.ts";
import { steeringCases } from "./steering.ts";
import { streamCases } from "./streams.ts";
import { Trials } from "./trials.ts";
import { versionCases } from "./versions.ts";
import { notifyCases } from "./notify.ts";
import { triggerCases } from "./triggers.ts";
import { webhookCases } from "./webhooks.ts";
import { UPSTREAM_FAULTS } from "./upstream-faults.ts";

// Kills the service with SIGKILL, over and over, and checks that no client and no log shows it.
//
//   node test/chaos/main.ts [--long] [--seconds 5] [--seed 1] [--only <part of a name>]
//
// First kills at named points: some of each kind, or all of them with --long. Then faults of the model, clients of all
// kinds, runs that are queued, schedules, triggers and messages into runs. Then resets of single objects while all others
// live, and a sandbox that dies. Then kills at random times, for the given number of seconds. The seed and the name of a
// failed case repeat it. Totals are printed while it runs.
const { values } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    seconds: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", default: "" },
  },
});
const { long, only } = values;
const seconds = Number(values.seconds ?? (long ? 600 : 5));
const seed = Number(values.seed);
/** Trials wait more than they compute. */
const PARALLEL = 4;
/** Kills per scenario in a short run, beside those of a new kind. */
const MORE_PLANS = 1;
/** Resets of single objects per story in a short run. */
const RESETS = 5;

const MOST_RANDOM = 5000;

const scratch = mkdtempSync(join(tmpdir(), "troupe-chaos-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const sandbox = await Sandbox.start();
process.on("exit", () => void sandbox.kill());
const config = await configOfWorker([...VAR_NAMES, "CHAOS"], {
  entry: "test/chaos/worker/main.ts",
});
const place = { scratch, config, sandbox };
const trials = new Trials(place);
const resets = await ResetCases.start(place);
const totals = (): string => `${String(trials.statistics)}, ${resets.totals}`;
const runner = new Runner(PARALLEL, only, totals);

async function* namedKills(): AsyncGenerator<Case, void, void> {
  const tried: Tried = new Set();
  const random = new Random(seed);
  for (const scenario of SCENARIOS) {
    yield trials.killed(scenario, { kills: [], spectator: "absent" });
    // A scenario that cannot run at all is reported by the case above.
    const reference = await trials.reference(scenario).catch(() => undefined);
    const plans = reference === undefined ? [] : allPlans(reference);
    for (const plan of long || only !== "" ? plans : somePlans(plans, MORE_PLANS, tried, random))
      yield trials.killed(scenario, plan);
  }
}

async function* upstreamFaults(): AsyncGenerator<Case, void, void> {
  for (const fault of UPSTREAM_FAULTS) if (long || fault.long !== true) yield trials.faulty(fault);
}

async function* clients(): AsyncGenerator<Case, void, void> {
  yield* streamCases(place, long);
}

async function* queued(): AsyncGenerator<Case, void, void> {
  yield* queueCases(place, long, new Random(seed));
}

async function* schedules(): AsyncGenerator<Case, void, void> {
  yield* scheduleCases(place, long);
}

async function* triggers(): AsyncGenerator<Case, void, void> {
  yield* triggerCases(place, long);
}

async function* steering(): AsyncGenerator<Case, void, void> {
  yield* steeringCases(place, long, new Random(seed));
}

async function* webhooks(): AsyncGenerator<Case, void, void> {
  yield* webhookCases(place, long);
}

async function* notifications(): AsyncGenerator<Case, void, void> {
  yield* notifyCases(place, long);
}

async function* singleResets(): AsyncGenerator<Case, void, void> {
  yield* resets.cases(long || only !== "" ? undefined : RESETS, new Random(seed));
}

async function* sandboxes(): AsyncGenerator<Case, void, void> {
  yield* sandboxCases(place);
}

async function* versions(): AsyncGenerator<Case, void, void> {
  yield* versionCases(place);
}

async function* randomKills(): AsyncGenerator<Case, void, void> {
  const random = new Random(seed);
  const end = performance.now() + seconds * 1000;
  // A case is repeated by its name: it is searched for among the first ones of the seed.
  for (let count = 1; only === "" ? performance.now() < end : count <= MOST_RANDOM; count++)
    yield trials.randomlyKilled(random);
}

console.log(`seed ${seed}`);
for (const cases of [
  namedKills(),
  upstreamFaults(),
  clients(),
  queued(),
  schedules(),
  triggers(),
  steering(),
  webhooks(),
  notifications(),
  singleResets(),
  sandboxes(),
  versions(),
  randomKills(),
])
  await runner.run(cases);
console.log(String(trials.statistics));
console.log(resets.totals);
await resets[Symbol.asyncDispose]();
console.log(`${runner.passed} passed, ${runner.failed} failed`);
await sandbox[Symbol.asyncDispose]();
process.exit(runner.failed > 0 ? 1 : 0);
