import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type ComponentModel, FunctionTool } from "troupe";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import type { TeamVersion } from "#contract/team/version.ts";
import { catalog } from "../../support/catalog.ts";
import { ringAt } from "../../support/clock.ts";
import { script, thought } from "../../support/scripted-agent.ts";
import {
  agent,
  counter,
  roundRobin,
  startInput,
  TestTeam,
  texts,
  value,
} from "../../support/team.ts";
import version1 from "../../support/version-1.sql?raw";
import version6 from "../../support/version-6.sql?raw";
import version8 from "../../support/version-8.sql?raw";

/** An object that holds what an earlier version of the code has stored. */
async function stored(dump: string): Promise<TestTeam> {
  const team = new TestTeam();
  await runInDurableObject(team.stub, (_instance, { storage }) => {
    storage.sql.exec(dump);
  });
  await team.evict();
  return team;
}

const columns = `select t.name as of, c.name, c.type, c."notnull", c.dflt_value
  from sqlite_master t, pragma_table_info(t.name) c where t.name in ('step', 'event', 'head', 'run') order by t.name, c.name`;
const outbox = "select sql from sqlite_master where name = 'outbox'";
const schema = "select value from meta where name = 'schema'";

describe("a team stored by version 1", () => {
  test("has the tables of a new one once it is loaded", async () => {
    script("stored", async function* () {
      yield* [];
      return "done";
    });
    const team = await stored(version1);
    const [run] = value(await team.gateway.runs({ limit: 1 })).runs;
    await team.finished(run?.id ?? "");
    const once = agent("fresh", async function* (_self, ctx) {
      yield* [];
      await ctx.step("once", () => Promise.resolve(null), { policy: "never" });
      return "done";
    });
    const fresh = await TestTeam.create(once);
    await fresh.finished((await fresh.start("go")).id);
    expect(await team.sql(columns)).toEqual(await fresh.sql(columns));
    expect(await team.sql(outbox)).toEqual(await fresh.sql(outbox));
    expect(await team.sql(schema)).toEqual(await fresh.sql(schema));
    expect(await team.sql(schema)).toEqual([{ value: String(TABLE_VERSIONS.team) }]);
    await team.evict();
    value(await team.gateway.team());
    expect(await team.rowsWritten()).toBe(0);
  });

  test("continues with its run, and a retry repeats the last model call", async () => {
    const calls: string[] = [];
    script("stored", async function* (self, ctx) {
      const effect = (name: string) => (): Promise<string> => {
        calls.push(name);
        return Promise.resolve(name);
      };
      const reply = await ctx.step("model:0", effect("sense"), { kind: "model" });
      yield thought(self.name, ctx, reply);
      await ctx.scope("tool:0:0").step("call", effect("call"), { kind: "tool" });
      await ctx.step("models_list", effect("list"));
      if (reply === "nonsense") throw new TypeError("cannot read this");
      return reply;
    });
    const team = await stored(version1);
    const [run] = value(await team.gateway.runs({ limit: 1 })).runs;
    const failed = await team.finished(run?.id ?? "");
    expect(failed).toMatchObject({ status: "failed", error: { message: "cannot read this" } });
    expect(calls).toEqual([]);
    const retry = value(await team.gateway.retryRun(failed.id));
    expect(texts(await team.finished(retry.id))).toEqual(["sense", "sense"]);
    expect(calls).toEqual(["sense", "call", "list"]);
  });

  test("queues a run behind the one it has stored", async () => {
    script("stored", async function* (_self, _ctx, messages) {
      yield* [];
      return `answer to ${messages.length}`;
    });
    const team = await stored(version1);
    const [run] = value(await team.gateway.runs({ limit: 1 })).runs;
    const queued = await team.start("next", { on_conflict: "queue" });
    expect(await team.finished(queued.id)).toMatchObject({ status: "completed" });
    const runs = value(await team.gateway.runs({ limit: 9 })).runs;
    expect(runs.map(({ id }) => id)).toEqual([queued.id, run?.id]);
    expect(runs.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });
});

test("a team stored by version 6 continues with its runs, its picture and its schedule", async () => {
  const picture = "iVBORw0KGgo".padEnd(5_000, "troupe");
  const team = await stored(version6.replaceAll("{image}", picture));
  const asked = ["What is this?", { data: picture }];
  const contents = async (of: TestTeam): Promise<unknown[]> =>
    value(await of.gateway.messages({ limit: 50 })).messages.flatMap((message) =>
      "content" in message && message.content !== "" ? [message.content] : [],
    );
  expect(await contents(team)).toEqual([asked, "A picture."]);
  expect(await contents(await team.fork())).toEqual([asked, "A picture."]);
  expect(value(await team.gateway.schedule("yearly"))).toMatchObject({
    enabled: true,
    task: [{ content: asked }],
  });
  const [queued, waiting] = value(await team.gateway.runs({ limit: 9 })).runs;
  expect([queued?.status, waiting?.status]).toEqual(["queued", "waiting"]);
  const { id = "", requests = [] } = waiting ?? {};
  value(await team.gateway.answer(id, requests[0]?.id ?? "", { content: "Thanks." }));
  expect(await team.finished(id)).toMatchObject({ status: "completed" });
  const next = await team.rested(queued?.id ?? "");
  expect(next).toMatchObject({ status: "waiting", task: [{ content: asked }] });
  expect(await contents(team)).toEqual([asked, "A picture.", "Thanks.", "Good.", asked]);
  const state = value(await team.gateway.saveState());
  expect(JSON.stringify(state)).toContain(picture);
  await team.evict();
  expect(value(await team.gateway.saveState())).toEqual(state);
});

const calculator = new FunctionTool({
  name: "calculator",
  description: "Calculates.",
  parameters: z.object({ expression: z.string() }),
  execute: () => "42",
});

test("a team stored by version 8, which kept no steps, shows the requests that depend on none", async () => {
  const team = await stored(version8);
  const requests = async (of: TestTeam, run: string) => {
    const { spans } = await of.trace(run);
    const calls = spans.filter(({ kind }) => kind === "chat");
    return Promise.all(calls.map(({ span_id }) => of.gateway.modelRequest(run, span_id)));
  };
  const [before] = value(await team.gateway.runs({ limit: 1 })).runs;
  const problem = { status: 410, code: "request_not_known" };
  expect(await requests(team, before?.id ?? "")).toMatchObject([
    { problem: { ...problem, detail: expect.stringContaining('"calculator"') } },
    { problem },
  ]);
  catalog.registerTool(calculator);
  const [first, second] = await requests(team, before?.id ?? "");
  expect(first).toMatchObject({ value: { matches: null, reply: null, agent: "clerk" } });
  expect(second).toMatchObject({
    problem: { ...problem, detail: expect.stringContaining("was not kept") },
  });
  for (const one of [team, await team.fork()]) {
    const { id } = await one.finished((await one.start("And again?")).id);
    const shown = (await requests(one, id)).map((request) => value(request));
    expect(shown.map(({ matches }) => matches)).toEqual([true, true]);
  }
});

test("a team stored by version 10 has the components that it had as versions", async () => {
  const limit = (turns: number): ComponentModel => roundRobin([counter("a")], turns);
  const team = await TestTeam.create(limit(1));
  const { turn } = await team.finished((await team.start("go")).id);
  for (const turns of [2, 3]) value(await team.gateway.replaceComponent(limit(turns)));
  const { versions: before } = value(await team.gateway.versions({ limit: 9 }));
  await runInDurableObject(team.stub, (_instance, { storage }) => {
    storage.sql.exec(`create table question (
      id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null,
      expires_at integer, ran integer not null, answer text, answered_at integer
    ) without rowid; drop table version`);
    storage.sql.exec("update meta set value = '10' where name = 'schema'");
  });
  await team.evict();
  const { versions } = value(await team.gateway.versions({ limit: 9 }));
  const times = (all: readonly TeamVersion[]): number[] =>
    all.map(({ created_at }) => Math.floor(Date.parse(created_at) / 1_000));
  expect(versions).toMatchObject([
    { component_version: 3, by: null, label: null, current: true },
    { component_version: 2, current: false },
    { component_version: 1, current: false },
  ]);
  // The turn is stored in the same transaction as the version.
  for (const [index, at] of times(versions).entries()) {
    expect(Math.abs(at - times(before)[index]!)).toBeLessThanOrEqual(1);
  }
  const first = value(await team.gateway.version("1"));
  expect(first.component.config["max_turns"]).toBe(1);
  const fork = await team.fork(turn);
  expect(value(await fork.gateway.team()).component.config["max_turns"]).toBe(1);
  expect(value(await team.gateway.restoreVersion("2")).component_version).toBe(4);
});

test("tables of a newer version are refused before anything runs, and stay as they are", async () => {
  const calls: string[] = [];
  script("stored", async function* () {
    yield* [];
    calls.push("called");
    return "done";
  });
  const team = await stored(version1);
  const dump = "select name, value from meta order by name";
  await runInDurableObject(team.stub, (_instance, { storage }) => {
    storage.sql.exec("update meta set value = '99' where name = 'schema'");
    return storage.setAlarm(Date.now() + 3_600_000);
  });
  await team.evict();
  const before = await team.sql(dump);
  calls.length = 0;
  const { gateway } = team;
  const answers = [
    await gateway.team(),
    await gateway.startRun(startInput("go")),
    await gateway.create({ id: team.id, label: null, metadata: {}, component: counter("a") }),
    await gateway.destroy(),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({ problem: { status: 503, code: "newer_data" } });
  }
  expect(await ringAt(team, Date.now() + 3_600_000)).toBe(true);
  expect(await team.sql(dump)).toEqual(before);
  expect(await team.rowsWritten()).toBe(0);
  expect(calls).toEqual([]);
  const alarm = await runInDurableObject(team.stub, (_instance, { storage }) => storage.getAlarm());
  expect(alarm).not.toBeNull();
});
