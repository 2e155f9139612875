import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import { Profiler, Rooms } from "../support/cpu-profile.ts";
import type { MeasureOptions, Report } from "../support/report.ts";
import { receive } from "../support/stream-client.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { startWorkerd } from "../support/workerd.ts";

const STEPS = ["create", "first run", "later run"] as const;
/** Rounds until the compiler has settled, and conversations of a round. */
const WARM_UP = 8;
const CONVERSATIONS = 60;
const ROUNDS = 3;
/** Work after a response, such as the report to the tenant, is included. */
const SETTLE_MS = 60;
/** Rooms below this share of a step's time are one row. */
const LEAST_SHARE = 0.01;

const SMOKE = { warmUp: 0, conversations: 2, rounds: 1 };

/** Where the time of a streamed run and of the creation of a team goes, by room. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const size = smoke ? SMOKE : { warmUp: WARM_UP, conversations: CONVERSATIONS, rounds: ROUNDS };
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  const { url } = upstream.hello;
  using worker = await bundle("src/service/worker.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  await using workerd = await startWorkerd(worker, { inspected: true });
  using profiler = await Profiler.connect(workerd.inspector ?? "");
  const rooms = new Rooms(worker.directory);
  const api = new Api(workerd.origin);
  const team = streamingTeam("burst-10", url);
  const times = new Map<string, number[]>();
  for (let round = -size.warmUp; round < size.rounds; round++) {
    const ids: string[] = [];
    for (const [index, step] of STEPS.entries()) {
      const profile = await profiler.during(async () => {
        for (let count = 0; count < size.conversations; count++) {
          if (step === "create") ids.push(await api.createTeam(team));
          else await receive(() => api.stream(ids[count] ?? "", "Hello"), "frame", false);
        }
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      });
      if (round < 0) continue;
      for (const [room, milliseconds] of rooms.times(profile)) {
        const row = times.get(room) ?? STEPS.map(() => 0);
        row[index] = (row[index] ?? 0) + milliseconds / size.rounds / size.conversations;
        times.set(room, row);
      }
    }
  }
  return {
    title: "Where a run's time goes",
    method: `Milliseconds per conversation in functions of each room, from CPU profiles of the deployed Worker: created, first run, second run of ten streamed tokens, ${size.conversations} conversations one after the other and ${SETTLE_MS} ms for what follows; means of ${size.rounds} rounds after ${size.warmUp} to warm up. A room is a folder of src, two levels deep, or a package; functions of the runtime count for their callers. Sampling adds to each figure: compare rooms.`,
    rows: rowsOf(times),
    goals: [],
  };
}

function rowsOf(times: ReadonlyMap<string, readonly number[]>): Report["rows"] {
  const totals = STEPS.map((_, index) =>
    [...times.values()].reduce((sum, row) => sum + (row[index] ?? 0), 0),
  );
  const rest = STEPS.map(() => 0);
  const shown: { room: string; row: readonly number[] }[] = [];
  for (const [room, row] of times) {
    if (row.some((time, index) => time > LEAST_SHARE * (totals[index] ?? 0))) {
      shown.push({ room, row });
      continue;
    }
    for (const [index, time] of row.entries()) rest[index] = (rest[index] ?? 0) + time;
  }
  const sum = (row: readonly number[]): number => row.reduce((all, time) => all + time, 0);
  shown.sort((one, other) => sum(other.row) - sum(one.row));
  return [...shown, { room: "other rooms", row: rest }, { room: "**all**", row: totals }].map(
    ({ room, row }) => ({
      room,
      ...Object.fromEntries(STEPS.map((step, index) => [`${step}, ms`, row[index] ?? 0])),
    }),
  );
}
