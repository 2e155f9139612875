import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import type { HumanRequest } from "#contract/run.ts";
import { thought } from "../../support/scripted-agent.ts";
import { agent, counter, outline, roundRobin, TestTeam, texts, value } from "../../support/team.ts";

function human(config: { timeout_seconds?: number; default_answer?: string } = {}): ComponentModel {
  return { provider: "UserProxyAgent", config: { name: "human", ...config } };
}

describe("a question to a human", () => {
  test("waits without an alarm, outlives the object, and its answer continues the run", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), human()], 2));
    const { id } = await team.start("go");
    const waiting = await team.rested(id);
    expect(waiting).toMatchObject({ status: "waiting", turns: 1 });
    const [request] = waiting.requests;
    expect(request).toMatchObject({ kind: "input", source: "human", expires_at: null });
    expect(value(await team.gateway.requests(id))).toEqual(waiting.requests);
    expect(await team.alarm()).toBeNull();
    expect(value(await team.gateway.team())).toMatchObject({ status: "waiting", active_run: id });

    await team.evict();
    const answered = value(await team.gateway.answer(id, request!.id, { content: "yes" }));
    expect(answered).toMatchObject({ status: "running", requests: [] });
    expect(texts(await team.finished(id))).toEqual(["go", "a 1", "", "yes"]);
    expect(outline(await team.frames(id))).toEqual([
      "run completed",
      "go",
      "a 1",
      "",
      "yes",
      "TaskResult",
    ]);
  });

  test("shows the messages since the run began, and the agent's own prompt", async () => {
    const long = "long ".repeat(10_000);
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            yield { ...thought(self.name, ctx, "hm"), id: ctx.id() };
            return self.answers === 0 ? "short" : long;
          }),
          { provider: "UserProxyAgent", config: { name: "human", prompt: "Is this right? " } },
        ],
        4,
      ),
    );
    const { id } = await team.start("go", { output_task_messages: false });
    const [first] = (await team.rested(id)).requests;
    expect(first).toMatchObject({ prompt: "Is this right? ", context: { truncated: false } });
    const said = (request: HumanRequest | undefined): unknown[] =>
      request!.context.messages.map((message) => "content" in message && message.content);
    expect(said(first)).toEqual(["go", "hm", "short"]);

    value(await team.gateway.answer(id, first!.id, { content: "more" }));
    const [second] = (await team.rested(id)).requests;
    expect(second!.context.truncated).toBe(true);
    const [text] = said(second);
    expect(said(second)).toHaveLength(1);
    expect(String(text)).toMatch(/^long (.|\n)*…$/);
    expect(JSON.stringify(second).length).toBeLessThan(40_000);
  });

  test("shows the messages of the run that it retries", async () => {
    let broken = true;
    const team = await TestTeam.create(
      roundRobin(
        [
          counter("a"),
          agent("b", async function* () {
            yield* [];
            if (broken) throw new TypeError("no");
            return "b";
          }),
          human(),
        ],
        3,
      ),
    );
    const failed = await team.finished((await team.start("go")).id);
    broken = false;
    const retry = value(await team.gateway.retryRun(failed.id));
    const [request] = (await team.rested(retry.id)).requests;
    const { messages } = request!.context;
    expect(messages.map((message) => "content" in message && message.content)).toEqual([
      "go",
      "a 1",
      "b",
    ]);
  });

  test("releases callers that wait for the end of the run, as does a pause", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), human()], 2));
    const { id } = await team.start("go");
    const waiting = value(await team.gateway.waitForRun(id, 60_000));
    expect(waiting).toMatchObject({ status: "waiting", turns: 1 });
    expect(value(await team.gateway.waitForRun(id, 60_000))).toEqual(waiting);
    value(await team.gateway.pauseRun(id));
    await team.rested(id);
    const paused = team.gateway.waitForRun(id, 60_000);
    expect(value(await paused)).toMatchObject({ status: "paused" });
    value(await team.gateway.answer(id, waiting.requests[0]!.id, { content: "yes" }));
    value(await team.gateway.resumeRun(id));
    expect(value(await team.gateway.waitForRun(id, 60_000))).toMatchObject({ status: "completed" });
  });

  test("takes the same answer twice and no other, also after the run", async () => {
    const team = await TestTeam.create(roundRobin([human()], 1));
    const { id } = await team.start("go");
    const request = (await team.rested(id)).requests[0]!.id;
    expect(await team.gateway.answer(id, "no-such-request", { content: "x" })).toMatchObject({
      ok: false,
      problem: { status: 404, code: "request_not_found" },
    });
    expect(await team.gateway.answer(id, request, { approved: true })).toMatchObject({
      ok: false,
      problem: {
        status: 422,
        code: "invalid_answer",
        errors: [
          { path: "content", message: "must be a text or a chat message" },
          { path: "approved", message: "is not a known field" },
        ],
      },
    });
    value(await team.gateway.answer(id, request, { content: "yes" }));
    await team.finished(id);
    expect(value(await team.gateway.answer(id, request, { content: "yes" })).status).toBe(
      "completed",
    );
    expect(await team.gateway.answer(id, request, { content: "no" })).toMatchObject({
      ok: false,
      problem: { status: 409, code: "already_answered" },
    });
  });

  test("gets its default answer when no human answers in time", async () => {
    const team = await TestTeam.create(
      roundRobin([human({ timeout_seconds: 0.001, default_answer: "nobody home" })], 1),
    );
    const { id } = await team.start("go");
    const waiting = await team.rested(id);
    if (waiting.status === "waiting") {
      expect(await team.alarm()).not.toBeNull();
      await runDurableObjectAlarm(team.stub);
    }
    expect(texts(await team.finished(id))).toEqual(["go", "", "nobody home"]);
    expect(await team.alarm()).toBeNull();
  });

  test("ends at once when the run is to stop after its turn", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), human()], 4));
    const { id } = await team.start("go");
    await team.rested(id);
    expect(value(await team.gateway.stopRun(id, "after_turn"))).toMatchObject({
      status: "completed",
      stop_reason: "External termination requested",
      requests: [],
    });
    const frames = await team.frames(id);
    expect(outline(frames)).toEqual(["run completed", "go", "a 1", "", "retract", "TaskResult"]);
  });

  test("several side by side can be answered in any order", async () => {
    const asks = (key: string): Parameters<typeof agent>[1] =>
      async function* (_self, ctx) {
        const replies = yield* ctx.all(
          ["one", "two"].map((branch) => ({
            key: `${key}:${branch}`,
            // eslint-disable-next-line require-yield
            run: async function* (scope: typeof ctx) {
              const done = await scope.step("before", () => Promise.resolve(branch));
              const answer = await scope.ask({
                id: scope.id(),
                kind: "approval",
                source: branch,
                prompt: `${done}?`,
              });
              return `${branch} ${String("approved" in answer && answer.approved)}`;
            },
          })),
        );
        return replies.join(", ");
      };
    const team = await TestTeam.create(agent("a", asks("q")));
    const { id } = await team.start("go");
    const { requests } = await team.rested(id);
    expect(requests.map(({ source }) => source)).toEqual(["one", "two"]);
    const [one, two] = requests;
    value(await team.gateway.answer(id, two!.id, { approved: false }));
    const still = await team.rested(id);
    expect(still).toMatchObject({ status: "waiting", requests: [{ id: one!.id }] });
    value(await team.gateway.answer(id, one!.id, { approved: true }));
    expect(texts(await team.finished(id))).toEqual(["go", "one true, two false"]);
  });

  test("keeps an answer for later while the run is paused", async () => {
    const team = await TestTeam.create(roundRobin([human()], 1));
    const { id } = await team.start("go");
    const request = (await team.rested(id)).requests[0]!.id;
    value(await team.gateway.pauseRun(id));
    expect((await team.rested(id)).status).toBe("paused");
    value(await team.gateway.answer(id, request, { content: "yes" }));
    expect((await team.run(id)).status).toBe("paused");
    value(await team.gateway.resumeRun(id));
    expect(texts(await team.finished(id))).toEqual(["go", "", "yes"]);
  });
});
