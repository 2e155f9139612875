import { setTimeout as sleep } from "node:timers/promises";
import { type Kill, nameOf } from "./harness/kill.ts";
import type { Place } from "./harness/place.ts";
import { Stage } from "./harness/stage.ts";
import { DEADLINE_MS } from "./harness/trial.ts";
import type { Case } from "./runner.ts";
import { assistant, roundRobin } from "./scenarios/components.ts";

/** Milliseconds from the first occurrence to each; two come at the same time. */
const OCCURRENCES = { first: 0, second: 0, third: 400 };
/** What is written to make a schedule. */
const CREATION = ["insert schedule", "set alarm"];
/** What is written to start its run and to end it. */
const OCCURRENCE = ["insert idempotency", "insert run", "update schedule", "update run"];
/** Milliseconds in which three schedules are made, also when the service has to come back first. */
const CREATED_WITHIN_MS = 5_000;
const BACK_WITHIN_MS = 12_000;
/** Starts of the service that fit in that time. */
const SLOWER = 4;

/** Each occurrence of a schedule starts one run, wherever the service is killed. */
export function scheduleCases(place: Place, long: boolean): Case[] {
  const plans: Kill[][] = [[]];
  for (const label of [...CREATION, ...OCCURRENCE]) {
    for (const mode of ["lost", "durable"] as const) {
      for (let occurrence = 1; occurrence <= (long ? 3 : 1); occurrence++) {
        const kill: Kill = { at: "write", label, occurrence, mode };
        plans.push([kill]);
        if (long) plans.push([kill, { ...kill, occurrence: 1 }]);
      }
    }
  }
  return plans.map((plan) => ({
    name: `schedules: ${plan.map(nameOf).join(", ") || "no kill"}`,
    run: () => trial(place, plan),
  }));
}

async function trial(place: Place, plan: readonly Kill[]) {
  const began = performance.now();
  await using stage = await Stage.start(place, { plan });
  const { api, disk, fake, supervisor } = stage;
  await api.createTeam(
    roundRobin([assistant({ model: fake.url }, "speaker", { model_client_stream: true })], 2),
  );
  const early = plan.some((kill) => kill.at === "write" && CREATION.includes(kill.label));
  // On a machine that does much else it takes longer, as the start of the service did.
  const slow = SLOWER * (performance.now() - began);
  const first = Date.now() + Math.max(early ? BACK_WITHIN_MS : CREATED_WITHIN_MS, slow);
  const expected: string[] = [];
  for (const [id, after] of Object.entries(OCCURRENCES)) {
    const at = new Date(first + after).toISOString();
    await api.createSchedule({ id, at, task: "Speak.", on_conflict: "interrupt" });
    expected.push(`${id} ${at}`);
  }
  stage.touch();
  // Looked at from outside: a request would wake the object.
  const isOver = (): boolean =>
    disk.schedulesLeft() === 0 && !disk.alarmSet() && disk.latestRun() !== undefined;
  while (!isOver() && !stage.later(DEADLINE_MS)) await sleep(20);
  await supervisor.calm();
  const problems = isOver() ? [] : [`not over: ${JSON.stringify(disk.rowCounts())}`];
  if (supervisor.killed.length === 0 && plan.length > 0) problems.push("it was not killed");
  const runs = await api.runs();
  const started = runs.map(
    ({ metadata: { schedule_id, scheduled_for } }) =>
      `${schedule_id as string} ${scheduled_for as string}`,
  );
  if (started.toSorted().join("; ") !== expected.toSorted().join("; "))
    problems.push(`started: ${started.join("; ")}; expected: ${expected.join("; ")}`);
  const [last, ...others] = runs;
  if (last?.status !== "completed") problems.push(`the last run is ${last?.status}`);
  for (const { id, status } of others)
    if (status !== "completed" && status !== "cancelled") problems.push(`${id} is ${status}`);
  return problems;
}
