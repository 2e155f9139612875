import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox } from "../../support/sandbox.ts";
import { configOfWorker } from "../../support/workerd-config.ts";
import { isOutcomeUnknown } from "../harness/checks.ts";
import type { DiskView } from "../harness/database.ts";
import type { Kill } from "../harness/kill.ts";
import type { Place } from "../harness/place.ts";
import { type Outcome, trial, VAR_NAMES } from "../harness/trial.ts";
import { assistant, callsTools, STREAMING, tools } from "../scenarios/components.ts";
import { PACED, type Scenario } from "../scenarios/scenario.ts";

/** A run that was killed at one place: what is on disk then, and what the next load does. */
export interface KilledRun {
  /** The policy of its tool's step. */
  policy: "retry" | "never";
  killed: string;
  disk: string;
  next: string;
}

const at = (label: string, mode: "lost" | "durable"): Kill => ({
  at: "write",
  label,
  occurrence: 1,
  mode,
});

/** A run of one agent asks its model, carries out a tool, and asks its model again. */
const KILLS = {
  retry: {
    tool: "look_up",
    kills: [
      ["the run's row is stored", at("insert run", "durable")],
      ["the model streams its reply", { at: "model", state: "streaming", occurrence: 1 }],
      ["the reply has arrived and is not stored", at("step done retry", "lost")],
      ["the reply is stored", at("step done retry", "durable")],
      ["the tool's effect has happened, its result is not stored", { at: "effect", occurrence: 1 }],
      ["the model streams the last reply", { at: "model", state: "streaming", occurrence: 2 }],
      ["in the transaction of the commit", at("delete step", "lost")],
      ["the commit is stored", at("delete step", "durable")],
    ],
  },
  never: {
    tool: "charge",
    kills: [
      ["the beginning of the tool's step is stored", at("step started never", "durable")],
      ["the tool's effect has happened, its result is not stored", { at: "effect", occurrence: 1 }],
      ["the tool's result is stored", at("step done never", "durable")],
    ],
  },
} as const satisfies Record<
  KilledRun["policy"],
  { tool: string; kills: readonly (readonly [string, Kill])[] }
>;

/** Kills runs at the places of the table, one run for each. */
export async function killedRuns(): Promise<KilledRun[]> {
  const scratch = mkdtempSync(join(tmpdir(), "troupe-kills-"));
  await using sandbox = await Sandbox.start();
  const config = await configOfWorker([...VAR_NAMES, "CHAOS"], {
    entry: "test/chaos/worker/main.ts",
  });
  const place = { scratch, config, sandbox };
  try {
    const rows: KilledRun[] = [];
    for (const policy of ["retry", "never"] as const) {
      const scenario = scenarioWith(KILLS[policy].tool);
      for (const [killed, kill] of KILLS[policy].kills) {
        rows.push({ policy, killed, ...(await killedAt(place, scenario, kill)) });
      }
    }
    return rows;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function scenarioWith(tool: string): Scenario {
  return {
    name: tool,
    component: (services) =>
      assistant(services, "clerk", {
        ...STREAMING,
        ...tools(tool),
        reflect_on_tool_use: true,
      }),
    rules: [callsTools("clerk", tool), PACED],
    task: "Do it.",
  };
}

async function killedAt(
  place: Place,
  scenario: Scenario,
  kill: Kill,
): Promise<Pick<KilledRun, "disk" | "next">> {
  let disk = "";
  const outcome = await trial({
    ...place,
    scenario,
    plan: [kill],
    spectator: "absent",
    onDead: (view) => (disk = onDisk(view)),
  });
  if (outcome.problems.length > 0 || outcome.run.status !== "completed") {
    throw new Error(`${outcome.run.status}: ${outcome.problems.join(", ")}`);
  }
  if (outcome.repeated.length > 0) throw new Error(outcome.repeated.join(", "));
  return { disk, next: whatTheNextLoadDid(outcome, disk) };
}

function onDisk(view: DiskView): string {
  const turn = view.turn();
  const status = view.latestRun()?.status;
  if (turn === undefined || status === undefined) return "nothing of the run";
  // Whether an alarm is left for what the tenant has to learn is a matter of time.
  const alarm = `alarm ${view.alarmSet() ? "set" : "not set"}`;
  const steps = turn.steps.length === 0 ? "no step" : `steps: ${turn.steps.join(", ")}`;
  return [
    `the run is ${status}`,
    ...(status === "completed" ? [] : [alarm]),
    `turns committed: ${turn.turns}`,
    `messages: ${turn.messages}`,
    steps,
  ].join("; ");
}

/** Without kills the run asks its model twice and makes one effect. */
function whatTheNextLoadDid({ requests, effects, messages }: Outcome, disk: string): string {
  if (disk.startsWith("the run is completed")) return "nothing: the run has ended";
  const did = ["runs the turn again"];
  if (requests.length > 2) did.push("asks the model again");
  if (effects.length > 1) {
    const same = new Set(effects.map(({ key }) => key)).size === 1;
    did.push(`makes the effect again${same ? " under the same key" : ""}`);
  }
  if (isOutcomeUnknown(messages)) did.push("does not make the effect: the outcome is unknown");
  if (did.length === 1) did.push("repeats no request and no effect");
  return did.join("; ");
}
