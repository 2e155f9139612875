import { describe, expect, test } from "vitest";
import { hooks, modelCall, thought } from "../support/scripted-agent.ts";
import {
  agent,
  counter,
  outline,
  roundRobin,
  Signal,
  TestTeam,
  texts,
  value,
} from "../support/team.ts";

describe("a run", () => {
  test("is accepted, runs, and ends with its result and without an alarm", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), counter("b")], 3));
    const accepted = await team.start("go");
    expect(accepted).toMatchObject({ status: "running", turns: 0, created: true });

    const run = await team.finished(accepted.id);
    expect(run).toMatchObject({
      status: "completed",
      stop_reason: "Maximum number of turns 3 reached.",
      turns: 3,
    });
    expect(texts(run)).toEqual(["go", "a 1", "b 1", "a 2"]);
    expect(await team.alarm()).toBeNull();
    expect(value(await team.gateway.team())).toMatchObject({ status: "idle", active_run: null });
  });

  test("a single agent runs as a team of its own", async () => {
    const team = await TestTeam.create(counter("solo"));
    const run = await team.finished((await team.start("go")).id);
    expect(run).toMatchObject({ status: "completed", stop_reason: null, turns: 1 });
    expect(texts(run)).toEqual(["go", "solo 1"]);
  });

  test("the next run continues the conversation", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    await team.finished((await team.start("one")).id);
    const second = await team.finished((await team.start("two")).id);
    expect(texts(second)).toEqual(["two", "a 2"]);
    const { messages } = value(await team.gateway.messages({ limit: 100 }));
    expect(messages.map((message) => "content" in message && message.content)).toEqual([
      "one",
      "a 1",
      "two",
      "a 2",
    ]);
  });

  test("keeps task messages in the conversation that are not to be shown", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    const run = await team.finished((await team.start("go", { output_task_messages: false })).id);
    expect(texts(run)).toEqual(["a 1"]);
    expect(outline(await team.frames(run.id))).not.toContain("go");
    expect(value(await team.gateway.messages({ limit: 10 })).messages).toHaveLength(2);
  });

  test("is refused while another is active, or replaces it", async () => {
    const go = new Signal();
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("slow", async function* (_self, ctx) {
            yield* [];
            await ctx.step("wait", () => go.wait().then(() => null));
            return "done";
          }),
        ],
        1,
      ),
    );
    const first = await team.start("one");
    const refused = await team.gateway.startRun({
      task: null,
      output_task_messages: true,
      on_conflict: "reject",
      timeout_seconds: null,
      max_total_tokens: null,
      max_cost: null,
      metadata: {},
      webhook: null,
    });
    expect(refused).toMatchObject({
      ok: false,
      problem: { status: 409, code: "team_busy", extra: { run_id: first.id } },
    });

    const second = await team.start("two", { on_conflict: "interrupt" });
    expect(await team.run(first.id)).toMatchObject({ status: "cancelled" });
    go.set();
    expect(texts(await team.finished(second.id))).toEqual(["two", "done"]);
  });

  test("an idempotency key answers with the run it started", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    const key = { idempotency: { key: "k", hash: "h" } };
    const first = await team.start("go", key);
    const again = await team.start("go", key);
    expect(again).toMatchObject({ id: first.id, created: false });
    await expect(team.start("go", { idempotency: { key: "k", hash: "other" } })).rejects.toThrow(
      "idempotency_mismatch",
    );
  });

  test("fails with the error of an agent, and leaves the team usable", async () => {
    let broken = true;
    const team = await TestTeam.create(
      roundRobin(
        [
          counter("a"),
          agent("b", async function* () {
            yield* [];
            if (broken) throw new TypeError("b is broken");
            return "b works";
          }),
        ],
        2,
      ),
    );
    const failed = await team.finished((await team.start("go")).id);
    expect(failed).toMatchObject({
      status: "failed",
      error: { type: "run_failed", message: "b is broken" },
      turns: 1,
    });
    const frames = await team.frames(failed.id);
    expect(outline(frames)).toEqual(["run failed", "go", "a 1", "failed"]);
    expect(frames.at(-1)?.data).toMatchObject({ code: "run_failed", detail: "b is broken" });

    broken = false;
    expect(texts(await team.finished((await team.start("again")).id))).toEqual([
      "again",
      "b works",
    ]);
  });

  test("fails when it uses more tokens than it may", async () => {
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (_self, ctx) {
            yield* [];
            return modelCall(ctx, "model:0", "said", { prompt_tokens: 5, completion_tokens: 2 });
          }),
        ],
        3,
      ),
    );
    const run = await team.finished((await team.start("go", { max_total_tokens: 10 })).id);
    expect(run).toMatchObject({
      status: "failed",
      error: { type: "token_limit" },
      usage: { prompt_tokens: 10, completion_tokens: 4 },
      turns: 2,
    });
    expect(value(await team.gateway.team()).usage).toEqual(run.usage);
  });
});

describe("a stop", () => {
  function twoSpeeds(go: Signal, started: Signal): ReturnType<typeof agent> {
    return agent("a", async function* (self, ctx) {
      yield* [];
      started.set();
      await ctx.step("wait", () => go.wait().then(() => null));
      return `a ${self.answers + 1}`;
    });
  }

  test("completes the run if it is to wait for the turn", async () => {
    const [go, started] = [new Signal(), new Signal()];
    const team = await TestTeam.create(roundRobin([twoSpeeds(go, started)], null));
    const { id } = await team.start("go");
    await started.wait();
    expect(value(await team.gateway.stopRun(id, "after_turn"))).toMatchObject({
      status: "running",
      repeated: false,
    });
    expect(value(await team.gateway.stopRun(id, "after_turn")).repeated).toBe(true);
    go.set();
    expect(await team.finished(id)).toMatchObject({
      status: "completed",
      stop_reason: "External termination requested",
      turns: 1,
    });
  });

  test("T5: a stop at once cancels the run and retracts the events of the turn", async () => {
    const [go, started] = [new Signal(), new Signal()];
    const team = await TestTeam.create(
      roundRobin(
        [
          counter("a"),
          agent("b", async function* (self, ctx) {
            yield thought(self.name, ctx, "thinking");
            started.set();
            await ctx.step("wait", () => go.wait().then(() => null));
            return "never said";
          }),
        ],
        2,
      ),
    );
    const { id } = await team.start("go");
    await started.wait();
    const stopped = value(await team.gateway.stopRun(id, "now"));
    expect(stopped).toMatchObject({ status: "cancelled", turns: 1, repeated: false });
    expect(value(await team.gateway.stopRun(id, "now")).repeated).toBe(true);
    expect(await team.gateway.stopRun(id, "after_turn")).toMatchObject({
      ok: false,
      problem: { code: "run_ended" },
    });
    go.set();

    const frames = await team.frames(id);
    expect(outline(frames)).toEqual([
      "run running",
      "go",
      "a 1",
      "thinking",
      "retract",
      "run cancelled",
    ]);
    expect(await team.alarm()).toBeNull();
    const { messages } = value(await team.gateway.messages({ limit: 10 }));
    expect(messages).toHaveLength(2);
  });

  test("a pause lets steps finish, survives the object, and continues where it was", async () => {
    const [go, started] = [new Signal(), new Signal()];
    let effects = 0;
    const component = agent("a", async function* (self, ctx) {
      yield* [];
      await ctx.step("first", async () => {
        effects++;
        started.set();
        await go.wait();
        return null;
      });
      return ctx.step("second", () => Promise.resolve(`a ${self.answers + 1}`));
    });
    const name = component.config["script"] as string;
    const team = await TestTeam.create(roundRobin([component], 1));
    const { id } = await team.start("go");
    await started.wait();
    expect(value(await team.gateway.pauseRun(id)).status).toBe("running");
    go.set();
    expect(await team.rested(id)).toMatchObject({ status: "paused", turns: 0 });
    expect(await team.alarm()).toBeNull();
    expect(hooks).toContain(`${name} pause`);

    await team.evict();
    expect(await team.run(id)).toMatchObject({ status: "paused" });
    value(await team.gateway.resumeRun(id));
    expect(texts(await team.finished(id))).toEqual(["go", "a 1"]);
    expect(effects).toBe(1);
    expect(hooks).toContain(`${name} resume`);
  });
});
