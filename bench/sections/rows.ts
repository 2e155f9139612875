import { dumpComponent } from "troupe";
import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { replayTeam } from "../support/replay-team.ts";
import type { Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { startWorkerd } from "../support/workerd.ts";

/** Messages of one run, its task included. */
const RUN = 101;
const BUFFER = 10;
/** Messages in the conversation when a run begins, and how many runs are measured from there on. */
const LENGTHS = [10, 1000, 10_000];
const RUNS = 3;
const ROUNDS = 8;

interface Measured {
  rows: number[];
  milliseconds: number[];
}

/** Rows and time per turn, while the conversation grows. */
export async function measure(): Promise<Report> {
  using worker = await bundle("bench/worker/counting.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1" },
  });
  await using workerd = await startWorkerd(worker);
  const api = new Api(workerd.origin);
  const component = dumpComponent(replayTeam(RUN, BUFFER));
  const warmUp = await api.createTeam(component);
  for (let run = 0; run < 20; run++) await api.run(warmUp, "Begin.");

  const measured = new Map<number, Measured>();
  for (const length of LENGTHS) measured.set(length, { rows: [], milliseconds: [] });
  for (let round = 0; round < ROUNDS; round++) {
    const team = await api.createTeam(component);
    let length = 0;
    for (const target of LENGTHS) {
      // A fresh team is measured from its first message on.
      while (length < target - RUN) {
        await api.run(team, "Go on.");
        length += RUN;
      }
      for (let run = 0; run < RUNS; run++) {
        await api.takeRows(team);
        const milliseconds = await api.run(team, "Go on.");
        length += RUN;
        measured.get(target)?.milliseconds.push(milliseconds / RUN);
        measured.get(target)?.rows.push(median(await api.takeRows(team)));
      }
    }
  }
  const at = (length: number): { rows: number; ms: number } => {
    const { rows = [], milliseconds = [] } = measured.get(length) ?? {};
    return { rows: median(rows), ms: median(milliseconds) };
  };
  const first = at(LENGTHS[0] ?? 0);
  const last = at(LENGTHS.at(-1) ?? 0);
  return {
    title: "Rows and time per turn",
    method: `Two assistants with buffered contexts of ${BUFFER} messages in one team object, in runs of ${RUN} messages. Rows as SQLite counts them, indexes included, per transaction of a turn; the time is that of a run from its request to its end over its turns, the median of ${RUNS * ROUNDS} runs that begin at this length.`,
    rows: LENGTHS.map((length) => ({
      "messages in the conversation": length,
      "rows per turn": at(length).rows,
      "ms per turn": at(length).ms,
    })),
    goals: [
      {
        what: "rows of a turn, which adds to one model context",
        value: first.rows,
        unit: "rows",
        limit: { atMost: 5 },
      },
      {
        what: `rows of a turn at ${LENGTHS.at(-1)} messages`,
        value: last.rows,
        unit: "rows",
        limit: { atMost: 5 },
      },
      {
        what: `time of a turn at ${LENGTHS.at(-1)} messages`,
        value: last.ms / first.ms,
        unit: `times that at ${LENGTHS[0]}`,
        limit: { atMost: 1.3 },
      },
    ],
  };
}
