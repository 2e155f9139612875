// What the ways of working with a team cost, for docs/cost.md: rows, model calls and stored bytes of one turn.
import { expect, test } from "vitest";
import { FunctionTool, Skill } from "troupe";
import type { FunctionCall, JsonObject } from "troupe";
import { catalog } from "../../support/catalog.ts";
import { assistant } from "../../support/components.ts";
import { Effects } from "../../support/effects.ts";
import { roundRobin, TestTeam, value } from "../../support/team.ts";

/** More than an agent is offered without a search. */
const TOOLS = Array.from({ length: 25 }, (_, index) => `count_${index}`);
for (const name of TOOLS) {
  catalog.registerTool(
    new FunctionTool({
      name,
      description: `Counts things of the kind ${name}.`,
      parameters: { type: "object", properties: { amount: { type: "number" } } },
      execute: () => "counted",
    }),
  );
}
catalog.registerSkill(
  new Skill({ name: "counting", description: "Counts.", text: "Count twice. ".repeat(20) }),
);

const call = (name: string, args: JsonObject = {}): FunctionCall => ({
  id: name,
  name,
  arguments: JSON.stringify(args),
});
const tool = (name: string, approval: JsonObject | null = null) => ({
  provider: "FunctionTool",
  config: { name, approval },
});
const rule = { when: [{ argument: "amount", above: 100 }] };
const COUNT = call("count_0", { amount: 1 });
const SEARCH = [call("search_tools", { query: "count things" })];
const LOAD = [call("load_skill", { name: "counting" })];
const board = [{ provider: "troupe.memory.TaskBoard", config: {} }];

const payload = {
  type: "MultiModalMessage" as const,
  source: "user",
  content: [
    "Count.",
    { data: btoa("x".repeat(750)), name: "payload.json", media_type: "application/json" },
  ],
  metadata: { foreign: "payload.json" },
  models_usage: null,
};

interface Feature {
  config?: JsonObject;
  /** The calls of the model's answers, before it answers with a text. */
  answers?: readonly FunctionCall[][];
  /** The task is the event of a trigger. */
  event?: boolean;
  /** A message comes into the run while its first model call is under way. */
  message?: boolean;
}

interface Cost {
  rows: number;
  calls: number;
  bytes: number;
}

/** What the second run of a team with one turn costs. The tables of a feature exist since the first. */
async function costOf(feature: Feature): Promise<Cost> {
  const { config = {}, answers = [], event = false, message = false } = feature;
  const effects = new Effects();
  let answered = 0;
  const component = assistant(effects, "counter", { max_tool_iterations: 9, ...config }, () => {
    const next = answers[answered++];
    if (next === undefined) answered = 0;
    return next ?? "done";
  });
  const team = await TestTeam.create(roundRobin([component], 1));
  const run = async (): Promise<void> => {
    const [place] = effects.begun;
    const release = message && place !== undefined ? effects.hold(place) : undefined;
    const before = effects.begun.length;
    const { id } = await (event ? team.start(null, { task: [payload] }) : team.start("Count."));
    if (release !== undefined && place !== undefined) {
      await expect.poll(() => effects.begun.length).toBeGreaterThan(before);
      value(await team.gateway.steerRun(id, { content: "Count to ten." }));
      release();
    }
    expect((await team.finished(id)).status).toBe("completed");
    await team.delivered();
  };
  await run();
  const [rows, calls, bytes] = [
    await team.rowsWritten(),
    effects.begun.length,
    await bytesOf(team),
  ];
  await run();
  return {
    rows: (await team.rowsWritten()) - rows,
    calls: effects.begun.length - calls,
    bytes: (await bytesOf(team)) - bytes,
  };
}

/** Bytes of all columns of all tables. */
async function bytesOf(team: TestTeam): Promise<number> {
  const tables = await team.sql<{ name: string }>(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  );
  let bytes = 0;
  for (const { name } of tables) {
    const columns = await team.sql<{ name: string }>(
      `select name from pragma_table_info('${name}')`,
    );
    const lengths = columns.map((column) => `coalesce(length(cast("${column.name}" as blob)), 0)`);
    const [row] = await team.sql<{ bytes: number | null }>(
      `select sum(${lengths.join(" + ")}) as bytes from "${name}"`,
    );
    bytes += row?.bytes ?? 0;
  }
  return bytes;
}

const ALL: Feature = {
  config: {
    tools: [tool("count_0", rule), ...TOOLS.slice(1).map((name) => tool(name))],
    tool_search: { always: ["count_0"] },
    skills: ["counting"],
    memory: board,
  },
  answers: [SEARCH, LOAD, [call("add_task", { title: "Count" })], [COUNT]],
  event: true,
  message: true,
};

/** Each with the rows, the model calls and about the bytes of a run. */
const FEATURES: [name: string, feature: Feature, rows: number, calls: number, bytes: number][] = [
  ["a plain turn", {}, 16, 1, 3_100],
  ["a tool call", { config: { tools: [tool("count_0")] }, answers: [[COUNT]] }, 23, 2, 4_700],
  [
    "a tool call that a rule lets run",
    { config: { tools: [tool("count_0", rule)] }, answers: [[COUNT]] },
    25,
    2,
    5_000,
  ],
  [
    "a search of 25 tools",
    { config: { tools: TOOLS.map((name) => tool(name)), tool_search: true }, answers: [SEARCH] },
    23,
    2,
    5_800,
  ],
  ["a skill that is loaded", { config: { skills: ["counting"] }, answers: [LOAD] }, 23, 2, 5_800],
  [
    "a task on the board",
    { config: { memory: board }, answers: [[call("add_task", { title: "Count" })]] },
    26,
    2,
    5_400,
  ],
  ["an event of a trigger", { event: true }, 16, 1, 5_400],
  ["a message into the run", { message: true }, 21, 1, 3_500],
  ["all of them", ALL, 61, 5, 16_200],
  [
    "a plain turn of an agent that has all of them",
    { ...(ALL.config && { config: ALL.config }) },
    19,
    1,
    3_400,
  ],
];

test.each(FEATURES)(
  "%s costs the rows, model calls and bytes that the page of costs says",
  async (_, feature, rows, calls, bytes) => {
    const cost = await costOf(feature);
    expect(cost).toMatchObject({ rows, calls });
    // Ids and times differ in length.
    expect(Math.abs(cost.bytes / bytes - 1), `${cost.bytes} bytes`).toBeLessThan(0.1);
  },
);
