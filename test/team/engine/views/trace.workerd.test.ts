import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type ComponentModel, FunctionTool, type JsonObject, ModelError } from "troupe";
import type { RunTrace, TraceSpan } from "#contract/team/trace.ts";
import { assistant } from "../../support/assistants.ts";
import { catalog } from "../../support/catalog.ts";
import { modelCall } from "../../support/scripted-agent.ts";
import { agent, counter, roundRobin, Signal, TestTeam, value } from "../../support/team.ts";

catalog.registerTool(
  new FunctionTool({
    name: "look_up",
    description: "Looks up a word, or fails.",
    parameters: z.object({ word: z.string() }),
    execute: ({ word }) => {
      if (word === "missing") throw new Error("no such word");
      return `about ${word}`;
    },
  }),
);
const lookUp: JsonObject = { provider: "FunctionTool", config: { name: "look_up" } };

/** A model's answer that calls a tool. */
function calling(name: string, args: JsonObject): JsonObject {
  return {
    finish_reason: "function_calls",
    content: [{ id: "1", name, arguments: JSON.stringify(args) }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
    cached: false,
  };
}

const HUMAN: ComponentModel = { provider: "UserProxyAgent", config: { name: "human" } };

/** The spans' names, indented below their parents'. */
function outline({ spans }: RunTrace): string[] {
  const below = (parent: string | null, indent: string): string[] =>
    spans.flatMap((span) =>
      span.parent_span_id === parent
        ? [indent + span.name, ...below(span.span_id, `${indent}  `)]
        : [],
    );
  const shown = below(null, "");
  // None has a parent that does not exist.
  expect(shown).toHaveLength(spans.length);
  return shown;
}

function named({ spans }: RunTrace, name: string): TraceSpan {
  const found = spans.filter((span) => span.name === name);
  expect(found, name).toHaveLength(1);
  return found[0] as TraceSpan;
}

/** Every span lies inside of its parent. */
function expectNested({ spans }: RunTrace): void {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  expect(byId.size).toBe(spans.length);
  for (const span of spans) {
    const parent = byId.get(span.parent_span_id ?? "");
    if (parent === undefined) continue;
    expect(span.started_at >= parent.started_at, `${span.name} begins in ${parent.name}`).toBe(
      true,
    );
    if (parent.ended_at === null || span.ended_at === null) continue;
    expect(span.ended_at <= parent.ended_at, `${span.name} ends in ${parent.name}`).toBe(true);
  }
}

describe("the trace of a run", () => {
  test("has its turns, agents, model calls and tool calls", async () => {
    const writer = assistant("writer", [calling("look_up", { word: "sea" }), "done"], {
      tools: [lookUp],
      reflect_on_tool_use: true,
    });
    const team = await TestTeam.create(roundRobin([writer, counter("second")], 2));
    const { id } = await team.start("go");
    await team.finished(id);
    const trace = await team.trace(id);
    expect(trace).toMatchObject({ run_id: id, team_id: team.id, dropped_spans: 0 });
    expect(trace.trace_id).toBe(id.replaceAll("-", ""));
    expect(outline(trace)).toEqual([
      "run",
      "  turn",
      "  turn",
      "    invoke_agent writer",
      "      chat replay",
      "      execute_tool look_up",
      "      chat replay",
      "  turn",
      "    invoke_agent second",
      "      model:0",
    ]);
    expectNested(trace);
    const first = trace.spans.find(({ kind }) => kind === "chat");
    expect(first).toMatchObject({
      status: "ok",
      turn: 2,
      path: "speaker:writer/model:0",
      attempts: 1,
      recovered: false,
      discarded: false,
      agent: "writer",
      provider: "replay",
      model: "replay",
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    });
    expect(named(trace, "execute_tool look_up")).toMatchObject({
      kind: "execute_tool",
      agent: "writer",
      tool: "look_up",
      usage: null,
      path: "speaker:writer/tool:0:0/call",
    });
    expect(named(trace, "run").ended_at).toBe((await team.run(id)).ended_at);
  });

  test("has agents and teams inside of others", async () => {
    const inner = roundRobin([counter("inner")], 1);
    const helper: JsonObject = {
      provider: "AgentTool",
      config: { agent: assistant("helper", ["help"]) as never },
    };
    const boss = assistant("boss", [calling("helper", { task: "help" })], { tools: [helper] });
    const named_inner = { ...inner, config: { ...inner.config, name: "crew" } };
    const team = await TestTeam.create(roundRobin([boss, named_inner], 2));
    const { id } = await team.start("go");
    await team.finished(id);
    expect(outline(await team.trace(id)).slice(2)).toEqual([
      "  turn",
      "    invoke_agent boss",
      "      chat replay",
      "      execute_tool helper",
      "        invoke_agent helper",
      "          chat replay",
      "  turn",
      "    invoke_agent inner",
      "      model:0",
    ]);
  });

  test("covers a single agent", async () => {
    const team = await TestTeam.create(assistant("solo", ["done"]));
    const { id } = await team.start("go");
    await team.finished(id);
    expect(outline(await team.trace(id)).slice(2)).toEqual([
      "  turn",
      "    invoke_agent solo",
      "      chat replay",
    ]);
  });

  test("shows failed attempts, tools that failed, and why the run failed", async () => {
    let attempts = 0;
    const flaky = agent("flaky", async function* (_self, ctx) {
      yield* [];
      return ctx.step(
        "ask",
        async () => {
          if (++attempts === 1) throw new ModelError("rate_limit", "slow", { retryAfterMs: 20 });
          if (attempts > 2) throw new ModelError("auth", "no");
          return "done";
        },
        { kind: "model", subject: { name: "gpt", provider: "openai" } },
      );
    });
    const misses = calling("look_up", { word: "missing" });
    const clerk = assistant("clerk", [misses, misses], { tools: [lookUp] });
    const team = await TestTeam.create(roundRobin([clerk, flaky], 2));
    const { id } = await team.start("go");
    await team.finished(id);
    const trace = await team.trace(id);
    expect(named(trace, "execute_tool look_up")).toMatchObject({
      status: "error",
      error_type: "tool_error",
    });
    expect(named(trace, "chat gpt")).toMatchObject({ status: "ok", attempts: 2 });
    expect(named(trace, "attempt 1")).toMatchObject({
      kind: "attempt",
      status: "error",
      error_type: "model_rate_limit",
      parent_span_id: named(trace, "chat gpt").span_id,
    });
    const wait = named(trace, "backoff");
    expect(wait).toMatchObject({
      kind: "backoff",
      status: "ok",
      started_at: named(trace, "attempt 1").ended_at,
      ended_at: named(trace, "attempt 2").started_at,
      parent_span_id: named(trace, "chat gpt").span_id,
    });
    expect(wait.duration_ms).toBeGreaterThanOrEqual(20);
    expect(named(trace, "attempt 2")).toMatchObject({
      kind: "attempt",
      status: "ok",
      error_type: null,
      ended_at: named(trace, "chat gpt").ended_at,
    });
    expectNested(trace);

    const failing = await team.start("again");
    expect(await team.finished(failing.id)).toMatchObject({ status: "failed" });
    const failed = await team.trace(failing.id);
    expect(named(failed, "run")).toMatchObject({ status: "error", error_type: "model_auth" });
    expect(named(failed, "chat gpt")).toMatchObject({ status: "error", error_type: "model_auth" });
    expect(named(failed, "invoke_agent flaky")).toMatchObject({ error_type: "model_auth" });
    const turns = failed.spans.filter(({ kind }) => kind === "turn");
    expect(turns.map(({ status }) => status).at(-1)).toBe("error");
    expectNested(failed);

    const retry = value(await team.gateway.retryRun(failing.id));
    await team.finished(retry.id);
    const retried = await team.trace(retry.id);
    // Not what the failed run had done before.
    expectNested(retried);
    expect(retried.spans.every((span) => span.started_at >= retry.created_at)).toBe(true);
  });

  test("covers a run that waits, that was answered, and that was cancelled meanwhile", async () => {
    const asks = agent("asks", async function* (_self, ctx) {
      yield* [];
      await modelCall(ctx, "first", "hm", { prompt_tokens: 5, completion_tokens: 1 });
      const answer = await ctx.ask({ id: ctx.id(), kind: "input", source: "asks", prompt: "?" });
      return JSON.stringify(answer);
    });
    const team = await TestTeam.create(roundRobin([asks], 1));
    const { id } = await team.start("go");
    const waiting = await team.rested(id);
    const before = await team.trace(id);
    expect(outline(before)).toEqual([
      "run",
      "  turn",
      "  turn",
      "    invoke_agent asks",
      "      chat",
      "      wait",
    ]);
    expect(named(before, "wait")).toMatchObject({ status: "running", ended_at: null });
    expect(named(before, "run")).toMatchObject({ status: "running", ended_at: null });

    // In an object that has not run it, too.
    await team.evict();
    const reloaded = await team.trace(id);
    expect(outline(reloaded).slice(0, 5)).toEqual(outline(before).slice(0, 5));
    expect(named(reloaded, "wait").span_id).toBe(named(before, "wait").span_id);
    expect(named(reloaded, "chat")).toEqual(named(before, "chat"));

    value(await team.gateway.answer(id, waiting.requests[0]!.id, { content: "yes" }));
    await team.finished(id);
    const after = await team.trace(id);
    expect(outline(after)).toEqual(outline(before));
    expect(after.spans.map(({ span_id }) => span_id)).toEqual(
      before.spans.map(({ span_id }) => span_id),
    );
    expect(named(after, "wait")).toMatchObject({ status: "ok", agent: "asks" });
    expect(named(after, "chat")).toMatchObject({
      recovered: false,
      usage: { prompt_tokens: 5, completion_tokens: 1 },
    });

    const next = await team.start("go");
    await team.rested(next.id);
    value(await team.gateway.stopRun(next.id, "now"));
    const cancelled = await team.trace(next.id);
    expect(named(cancelled, "run")).toMatchObject({ status: "cancelled", error_type: null });
    expect(named(cancelled, "wait")).toMatchObject({ status: "cancelled" });
    expect(named(cancelled, "chat")).toMatchObject({ status: "ok" });
    expectNested(cancelled);
  });

  test("shows interruptions, and the steps that were not repeated after them", async () => {
    const arrived = new Signal();
    let calls = 0;
    const b = agent("b", async function* (_self, ctx) {
      yield* [];
      await modelCall(ctx, "done", "hm", { prompt_tokens: 5, completion_tokens: 1 });
      return ctx.step("held", async () => {
        if (++calls === 1) {
          arrived.set();
          await new Promise(() => {});
        }
        return "done";
      });
    });
    const team = await TestTeam.create(roundRobin([counter("a"), b], 2));
    const { id } = await team.start("go");
    await arrived.wait();
    const before = await team.trace(id);
    expect(named(before, "held")).toMatchObject({ status: "running", ended_at: null });
    await team.evict();
    expect(await runDurableObjectAlarm(team.stub)).toBe(true);
    await team.finished(id);
    const after = await team.trace(id);
    // The step of the agent before, and that of this turn.
    expect(outline(after)).toEqual([
      "run",
      "  recovery",
      "  turn",
      "  turn",
      "    invoke_agent a",
      "      model:0",
      "  turn",
      "    invoke_agent b",
      "      chat",
      "      held",
    ]);
    const ids = after.spans.filter(({ kind }) => kind !== "recovery").map(({ span_id }) => span_id);
    expect(ids).toEqual(before.spans.map(({ span_id }) => span_id));
    expect(named(after, "chat")).toEqual({ ...named(before, "chat"), recovered: true });
    const recovery = named(after, "recovery");
    expect(recovery).toMatchObject({ kind: "recovery", status: "ok", turn: 3 });
    expect(recovery.started_at).toBe(named(after, "chat").ended_at);
    expect(named(after, "held").started_at >= recovery.ended_at!).toBe(true);
    expectNested(after);
  });

  test("shows recorded steps whose results could not be used", async () => {
    const arrivals = [new Signal(), new Signal(), new Signal()];
    let arrived = 0;
    let prompt = "old";
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        const usage = { prompt_tokens: 5, completion_tokens: 1 };
        await modelCall(ctx, "ask", "hm", usage, { fingerprint: prompt });
        await ctx.step("work", async () => prompt);
        return ctx.step("held", async () => {
          arrivals[arrived++]?.set();
          if (arrived < arrivals.length) await new Promise(() => {});
          return "done";
        });
      }),
    );
    const { id } = await team.start("go");
    await arrivals[0]?.wait();
    const before = await team.trace(id);
    await team.evict();
    prompt = "new";
    await runDurableObjectAlarm(team.stub);
    await arrivals[1]?.wait();
    // They outlive a second interruption.
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    const run = await team.finished(id);
    expect(run.usage).toEqual({ prompt_tokens: 10, completion_tokens: 2 });
    const after = await team.trace(id);
    expectNested(after);
    expect(after.spans.filter(({ kind }) => kind === "chat" || kind === "step")).toEqual([
      { ...named(before, "chat"), span_id: expect.any(String), discarded: true },
      { ...named(before, "work"), span_id: expect.any(String), discarded: true },
      expect.objectContaining({ kind: "chat", recovered: true, discarded: false }),
      expect.objectContaining({ name: "work", recovered: true, discarded: false }),
      expect.objectContaining({ name: "held", recovered: false, discarded: false }),
    ]);
    const ids = new Set(after.spans.map(({ span_id }) => span_id));
    expect(before.spans.every(({ span_id }) => ids.has(span_id))).toBe(true);
  });

  test("has at most 100 spans a turn, and comes in pages of turns", async () => {
    const busy = agent("busy", async function* (_self, ctx) {
      yield* [];
      for (let n = 0; n < 150; n++) await ctx.step(`step:${n}`, async () => n);
      return "done";
    });
    const team = await TestTeam.create(roundRobin([busy, counter("a")], 4));
    const { id } = await team.start("go");
    await team.finished(id);
    const whole = await team.trace(id);
    // The agent itself and 99 of its steps; twice.
    expect(whole.spans.filter(({ kind }) => kind === "step")).toHaveLength(2 * 99 + 2);
    const paged = await team.trace(id, 1);
    expect(paged.spans).toEqual(whole.spans);
    expect(value(await team.gateway.runTrace(id, { limit: 200 })).dropped_spans).toBe(2 * 51);
    expect(await team.gateway.runTrace(id, { limit: 1, cursor: "x" })).toMatchObject({
      problem: { code: "invalid_cursor" },
    });
    expect(await team.gateway.runTrace("none", { limit: 1 })).toMatchObject({
      problem: { code: "run_not_found" },
    });
  });

  test("shows the time in the queue", async () => {
    const team = await TestTeam.create(roundRobin([HUMAN], 1));
    const first = await team.start("go");
    const waiting = await team.rested(first.id);
    const queued = await team.start("next", { on_conflict: "queue" });
    expect(outline(await team.trace(queued.id))).toEqual(["run", "  queue"]);
    value(await team.gateway.answer(first.id, waiting.requests[0]!.id, { content: "yes" }));
    await team.rested(queued.id);
    const trace = await team.trace(queued.id);
    expect(named(trace, "queue")).toMatchObject({ status: "ok" });
    expect(outline(trace).slice(0, 3)).toEqual(["run", "  queue", "  turn"]);
  });

  test("continues the trace of the caller", async () => {
    const team = await TestTeam.create(assistant("solo", ["done"]));
    const trace = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "vendor=1",
    };
    const { id } = await team.start("go", { trace });
    await team.finished(id);
    expect((await team.trace(id)).trace_id).toBe("0af7651916cd43dd8448eb211c80319c");
  });
});
