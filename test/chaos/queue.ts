import { setTimeout as sleep } from "node:timers/promises";
import type { RunInfo } from "#contract/run.ts";
import type { Api } from "./harness/api.ts";
import { StepJournal } from "./harness/journal.ts";
import { type Kill, nameOf } from "./harness/kill.ts";
import type { Place } from "./harness/place.ts";
import type { Random } from "./harness/random.ts";
import { readStream } from "./harness/sse-client.ts";
import { StreamRecord } from "./harness/stream-record.ts";
import { Stage } from "./harness/stage.ts";
import type { Supervisor } from "./harness/supervisor.ts";
import { DEADLINE_MS, EXPECTED_OUTPUT } from "./harness/trial.ts";
import { untilListed } from "./harness/until-listed.ts";
import type { Case } from "./runner.ts";
import { assistant, person, roundRobin, STREAMING } from "./scenarios/components.ts";

/** The tasks of the runs: the first one is active, the others are queued, and one is cancelled before its turn. */
const TASKS = ["one", "two", "three", "four"];
const CANCELLED = "three";
const POLL_MS = 8;

/** Writes that change the queue or which run is active; and, of these, those where a short run kills. */
const CHANGES = /queue$|idempotency$| run$|alarm$/;
const MAIN_CHANGES = /queue$|insert run$/;

interface Outcome {
  /** In the order of their start; those that did not start are last. */
  runs: readonly { task: string; status: string }[];
  said: readonly unknown[];
  /** Labels of all writes of the first process, and how often each occurred. */
  writes: ReadonlyMap<string, number>;
  killed: number;
  problems: string[];
}

/**
 * Kills while runs are queued, started and cancelled: with `long` at each write that changes the queue or the active run, else
 * at the first and last one of the main kinds; then at random times.
 */
export async function* queueCases(
  place: Place,
  long: boolean,
  random: Random,
): AsyncGenerator<Case, void, void> {
  const reference = await queueTrial(place, []);
  yield named("no kill", () => Promise.resolve(checkOutcome(reference, reference)));
  for (const [label, count] of reference.writes) {
    if (!(long ? CHANGES : MAIN_CHANGES).test(label)) continue;
    for (let occurrence = 1; occurrence <= count; occurrence++) {
      if (!long && occurrence > 1 && occurrence < count) continue;
      for (const mode of ["lost", "durable"] as const) {
        const kill: Kill = { at: "write", label, occurrence, mode };
        yield killed(place, [kill], reference);
      }
    }
    const lost: Kill = { at: "write", label, occurrence: 1, mode: "lost" };
    if (long) yield killed(place, [lost, lost], reference);
  }
  for (let count = long ? 40 : 3; count > 0; count--) {
    const kills = Array.from({ length: 3 }, (): Kill => ({
      at: "time",
      ms: random.integer(5, 400),
    }));
    yield killed(place, kills, reference);
  }
}

function named(name: string, run: Case["run"]): Case {
  return { name: `queue: ${name}`, run };
}

function killed(place: Place, plan: readonly Kill[], reference: Outcome): Case {
  return named(plan.map(nameOf).join(", "), async () => {
    const outcome = await queueTrial(place, plan);
    const missed =
      outcome.killed === 0 && plan[0]?.at === "write" && !plan[0].label.endsWith("alarm");
    return [
      ...checkOutcome(outcome, reference),
      ...(missed ? ["the kill did not take place"] : []),
    ];
  });
}

function checkOutcome(outcome: Outcome, reference: Outcome): string[] {
  const expected = TASKS.map((task) => ({
    task,
    status: task === CANCELLED ? "cancelled" : "completed",
  })).toSorted((a, b) => Number(a.task === CANCELLED) - Number(b.task === CANCELLED));
  const differs = (what: string, actual: unknown, wanted: unknown): string[] =>
    JSON.stringify(actual) === JSON.stringify(wanted)
      ? []
      : [`${what}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`];
  return [
    ...outcome.problems,
    ...differs("the runs by start", outcome.runs, expected),
    ...differs("the thread", outcome.said, reference.said),
  ];
}

/** Runs the four tasks, killing the service where the plan says. Between answers no request is sent to help it recover. */
async function queueTrial(place: Place, plan: readonly Kill[]): Promise<Outcome> {
  const journal = new StepJournal();
  await using stage = await Stage.start(place, {
    plan,
    onMarker: (marker) => {
      if (marker.kind === "recorded") journal.add(marker.key, marker.result);
    },
  });
  const { api, disk, fake, output, supervisor, writes } = stage;
  const team = roundRobin(
    [assistant({ model: fake.url }, "helper", STREAMING), person("person")],
    2,
  );
  await api.createTeam(team);
  const accepted: RunInfo[] = [];
  for (const task of TASKS) accepted.push(await api.startRun(task, "queue"));
  const [last] = accepted.slice(-1);
  const watching = watch(api, supervisor, last?.id ?? "");
  await api.stop(accepted[TASKS.indexOf(CANCELLED)]?.id ?? "", "now");
  const problems: string[] = [];
  // Each run asks the human once; the next one starts by itself.
  const answered = new Set<string>();
  for (let version = ""; ;) {
    if (stage.later(DEADLINE_MS)) {
      problems.push(
        `the queue did not come to its end within ${DEADLINE_MS} ms: ${JSON.stringify(disk.latestRun())}, rows ${JSON.stringify(disk.rowCounts())}`,
      );
      break;
    }
    await sleep(POLL_MS);
    const present = disk.version();
    if (present === version) continue;
    version = present;
    const latest = disk.latestRun();
    if (latest?.id === last?.id && latest?.status === "completed") break;
    if (latest?.status !== "waiting") continue;
    for (const { id } of disk.openQuestions()) {
      if (answered.has(id)) continue;
      answered.add(id);
      await api.answer(latest.id, id, { content: `Answer ${answered.size}.` });
      stage.touch();
    }
  }
  const late = (): boolean => stage.later(DEADLINE_MS);
  problems.push(...(await untilListed(disk, late)));
  await supervisor.calm();
  const seen = await watching;
  const replay = await replayed(api, last?.id ?? "");
  problems.push(...seen.problems, ...journal.repeatedRequests(fake.requests));
  if (JSON.stringify(seen.recorded) !== JSON.stringify(replay.recorded))
    problems.push("what the client of a queued run got differs from the log");
  const runs = (await api.runs()).toReversed();
  for (const run of runs) problems.push(...(await checkStream(api, run)));
  const rows = disk.rowCounts();
  if (rows.queue !== 1) problems.push(`${rows.queue} rows are left in the queue, 1 expected`);
  if (rows.step !== 0) problems.push(`${rows.step} steps are left after the end`);
  const unexpected = output.filter((line) => !EXPECTED_OUTPUT.test(line));
  if (unexpected.length > 0) problems.push(`printed: ${unexpected.slice(0, 8).join("\n")}`);
  const byStart = [
    ...runs.filter(({ started_at }) => started_at !== null),
    ...runs.filter(({ started_at }) => started_at === null),
  ];
  return {
    runs: byStart.map((run) => ({ task: taskOf(run), status: run.status })),
    said: (await api.messages()).map((message) => "content" in message && message.content),
    writes,
    killed: supervisor.killed.length,
    problems,
  };
}

function taskOf({ task }: RunInfo): string {
  return (task as { content: string }[])[0]?.content ?? "";
}

/** Follows the stream of a run from the time when it is queued to its end, over all kills. */
async function watch(api: Api, supervisor: Supervisor, run: string): Promise<StreamRecord> {
  const seen = new StreamRecord();
  const until = performance.now() + 4 * DEADLINE_MS;
  while (!seen.ended && performance.now() < until) {
    await supervisor.settled();
    try {
      await readStream(`${api.teamUrl}/runs/${run}/events`, {
        ...(seen.cursor !== undefined && { lastEventId: seen.cursor }),
        onOpen: () => seen.connected(),
        onFrame: (frame) => seen.add(frame),
      });
    } catch {
      await sleep(POLL_MS);
    }
  }
  if (!seen.ended) seen.problems.push("the client of a queued run got no terminal frame");
  return seen;
}

/** Each run has its own task and one terminal frame in its stream, and nothing of the others. */
async function checkStream(api: Api, run: RunInfo): Promise<string[]> {
  const { recorded, ended, problems } = await replayed(api, run.id);
  const tasks = recorded.flatMap(({ data }) =>
    data.source === "user" ? [String(data.content)] : [],
  );
  const expected = run.started_at === null ? [] : [taskOf(run)];
  return [
    ...problems,
    ...(ended ? [] : [`the stream of "${taskOf(run)}" has no terminal frame`]),
    ...(tasks.join() === expected.join()
      ? []
      : [`the stream of "${taskOf(run)}" has ${tasks.join()}`]),
  ];
}

async function replayed(api: Api, run: string): Promise<StreamRecord> {
  const replay = new StreamRecord();
  await readStream(`${api.teamUrl}/runs/${run}/events`, { onFrame: (frame) => replay.add(frame) });
  return replay;
}
