import { dumpComponent, run, type ComponentModel } from "troupe";
import type { Team } from "troupe";
import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import type { Goal, Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { chain, nested, TEAM_KINDS, wave } from "../support/team-kinds.ts";
import { startWorkerd } from "../support/workerd.ts";

const SHORT = 20;
const LONG = 400;
const ROUNDS = 7;
/** How much more a unit of work may cost in the bigger of two teams. */
const GROWTH = 1.3;
/** Its model is asked about the whole conversation at every turn, as in AutoGen: the request itself grows. */
const GROWS_BY_ITSELF = new Set(["MagenticOneGroupChat"]);

/** A run of a team and the divisor of its cost. */
interface Shape {
  what: string;
  unit: string;
  small: [size: number, team: () => Team];
  big: [size: number, team: () => Team];
}

const SHAPES: readonly Shape[] = [
  ...Object.entries(TEAM_KINDS).map(([what, team]): Shape => ({
    what,
    unit: "turn",
    small: [SHORT, () => team(SHORT)],
    big: [LONG, () => team(LONG)],
  })),
  {
    what: "graph, one after the other",
    unit: "node",
    small: [10, () => chain(10)],
    big: [50, () => chain(50)],
  },
  {
    what: "graph, side by side",
    unit: "agent",
    small: [5, () => wave(5)],
    big: [20, () => wave(20)],
  },
  {
    what: "nested one and three deep",
    unit: "inner turn",
    small: [SHORT, () => nested(1, SHORT)],
    big: [SHORT, () => nested(3, SHORT)],
  },
];

/** The cost of each kind of team, durable and in memory, and whether it grows with the team or its run. */
export async function measure(): Promise<Report> {
  using worker = await bundle("bench/worker/counting.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1" },
  });
  await using workerd = await startWorkerd(worker);
  const api = new Api(workerd.origin);
  const rows: Report["rows"][number][] = [];
  const goals: Goal[] = [];
  for (const { what, unit, small, big } of SHAPES) {
    const before = await cost(api, ...small);
    const after = await cost(api, ...big);
    for (const [[size], one] of [
      [small, before],
      [big, after],
    ] as const) {
      rows.push({
        team: what,
        size: `${size} ${unit}s`,
        "durable, ms each": one.durable,
        "in memory in Node, ms each": one.memory,
        "rows each": one.rows,
        "durable, each per second": 1000 / one.durable,
      });
    }
    if (GROWS_BY_ITSELF.has(what)) continue;
    goals.push({
      what: `${what}: time per ${unit} in the bigger one`,
      value: after.durable / before.durable,
      unit: "times that in the smaller",
      limit: { atMost: GROWTH },
    });
  }
  return {
    title: "Kinds of teams",
    method: `Assistants with replay clients and buffered contexts, in one team object in workerd, over HTTP from the request to the finished run; and the same team in memory in Node. The median of ${ROUNDS} rounds, after one to warm up, divided by the size. Rows as SQLite counts them, indexes included, those of accepting and ending the run included.`,
    rows,
    goals,
  };
}

interface Cost {
  durable: number;
  memory: number;
  rows: number;
}

async function cost(api: Api, size: number, build: () => Team): Promise<Cost> {
  const component: ComponentModel = dumpComponent(build());
  const durable: number[] = [];
  const memory: number[] = [];
  const rows: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const team = await api.createTeam(component);
    await api.takeRows(team);
    const milliseconds = await api.run(team, "Begin.");
    const written = (await api.takeRows(team)).reduce((sum, count) => sum + count, 0);
    const inMemory = build();
    const started = performance.now();
    await run(inMemory, { task: "Begin." });
    if (round === 0) continue;
    durable.push(milliseconds / size);
    memory.push((performance.now() - started) / size);
    rows.push(written / size);
  }
  return { durable: median(durable), memory: median(memory), rows: median(rows) };
}
