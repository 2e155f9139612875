import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import {
  agentTool,
  assistant,
  boss,
  graph,
  handsOver,
  human,
  speaker,
  swarm,
} from "../support/components.ts";
import type { Kind } from "../support/kinds.ts";
import { SEATS } from "../support/seats.ts";
import { answer, settled, waiting } from "../support/outcome.ts";
import { agent, value } from "../support/team.ts";

const DEADLINE = { timeout_seconds: 3600, default_answer: "so be it" };

describe.each(SEATS)("a human in $seat", ({ seat, around }) => {
  const asking = (config: JsonObject = {}): Kind => ({
    name: seat,
    component: (effects) => around(human(config), effects),
  });

  test("is waited for without an object, and the run continues from the answer", async () => {
    const reference = await waiting(asking());
    await answer(reference, reference.run, "so be it");
    await reference.team.finished(reference.run.id);
    const outcome = await settled(reference);
    expect(JSON.stringify(outcome.said)).toContain('"content":"so be it"');

    const subject = await waiting(asking());
    const { team, run } = subject;
    expect(run.requests).toMatchObject([{ kind: "input", source: "human" }]);
    expect(await team.alarm()).toBeNull();
    await team.evict();
    await answer(subject, run, "so be it");
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    expect(await settled(subject)).toEqual(outcome);

    const late = await waiting(asking(DEADLINE));
    await late.team.sql("update question set expires_at = 1");
    await late.team.evict();
    await runDurableObjectAlarm(late.team.stub);
    expect(await late.team.finished(late.run.id)).toMatchObject({ status: "completed" });
    expect(await settled(late)).toEqual(outcome);
  });

  test("may be paused and stopped in the meantime", async () => {
    const subject = await waiting(asking());
    const { team, run } = subject;
    value(await team.gateway.pauseRun(run.id));
    expect(await team.rested(run.id)).toMatchObject({ status: "paused" });
    await team.evict();
    value(await team.gateway.resumeRun(run.id));
    const again = await team.rested(run.id);
    expect(again).toMatchObject({ status: "waiting", requests: run.requests });
    expect(value(await team.gateway.stopRun(run.id, "after_turn"))).toMatchObject({
      status: "completed",
      stop_reason: "External termination requested",
      requests: [],
    });
    await settled(subject);
  });
});

describe("an approval", () => {
  test.each([true, false])("is requested by an own agent in a graph (%s)", async (approved) => {
    const kind: Kind = {
      name: "approval",
      component: (effects) =>
        graph(
          [
            speaker(effects, "start"),
            agent("clerk", async function* (self, ctx) {
              yield* [];
              const letter = await ctx.step("model:0", async ({ idempotencyKey }) => {
                await effects.run(idempotencyKey);
                return "Dear Ada";
              });
              const given = await ctx.ask({
                id: ctx.id(),
                kind: "approval",
                source: self.name,
                prompt: `Send "${letter}"?`,
              });
              if (!("approved" in given && given.approved)) return "not sent";
              const sent = await ctx.step(
                "send",
                async ({ idempotencyKey }) => {
                  await effects.run(idempotencyKey);
                  return "sent";
                },
                { policy: "never" },
              );
              return sent;
            }),
            assistant(effects, "other"),
          ],
          ["start>clerk", "start>other"],
        ),
    };
    const subject = await waiting(kind);
    const { team, run, effects } = subject;
    const [request] = run.requests;
    expect(request).toMatchObject({
      kind: "approval",
      source: "clerk",
      prompt: 'Send "Dear Ada"?',
    });
    await team.evict();
    value(await team.gateway.answer(run.id, request?.id ?? "", { approved }));
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    expect(effects.begun.filter((place) => place.endsWith("send"))).toHaveLength(approved ? 1 : 0);
    await settled(subject);
  });
});

describe("a swarm", () => {
  test("gets its turn back from the human, or passes it where the human says", async () => {
    const kind: Kind = {
      name: "swarm",
      component: (effects) =>
        swarm(
          [
            assistant(effects, "a", { handoffs: ["human"] }, handsOver(["human", null, "human"])),
            human(),
            speaker(effects, "b"),
          ],
          6,
        ),
    };
    const subject = await waiting(kind);
    const { team, run } = subject;
    await answer(subject, run, "go on");
    const again = await team.rested(run.id);
    expect(again).toMatchObject({ status: "waiting" });
    const content = { type: "HandoffMessage", source: "human", target: "b", content: "you do it" };
    value(await team.gateway.answer(run.id, again.requests[0]?.id ?? "", { content }));
    const { result } = await team.finished(run.id);
    const spoke = (result?.messages ?? []).filter(({ type }) => type.endsWith("Message"));
    expect(spoke.map(({ source }) => source).join(" ")).toBe("user a human a a human b");
    await settled(subject);
  });
});

describe("calls of tools with humans in them", () => {
  test("ask in parallel", async () => {
    const subject = await waiting({
      name: "tools",
      component: (effects) =>
        boss(
          effects,
          "boss",
          [agentTool(human({}, "ann")), agentTool(human({}, "bob"))],
          ["ann", "bob"],
        ),
    });
    const { team, run } = subject;
    expect(run.requests.map(({ source }) => source)).toEqual(["ann", "bob"]);
    await answer(subject, run, "yes", "bob");
    await answer(subject, run, "no", "ann");
    const { result } = await team.finished(run.id);
    expect(result?.messages.at(-1)).toMatchObject({ content: "boss got ann: no & bob: yes" });
    await settled(subject);
  });

  test("ask one after the other if it is the same human", async () => {
    const subject = await waiting({
      name: "tool",
      component: (effects) => boss(effects, "boss", [agentTool(human())], ["human", "human"]),
    });
    const { team, run } = subject;
    expect(run.requests).toHaveLength(1);
    await answer(subject, run, "first");
    const again = await team.rested(run.id);
    await team.evict();
    expect(again.requests).toHaveLength(1);
    expect(again.requests[0]?.id).not.toBe(run.requests[0]?.id);
    await answer(subject, run, "second");
    const { result } = await team.finished(run.id);
    expect(result?.messages.at(-1)).toMatchObject({
      content: "boss got human: first & human: second",
    });
    await settled(subject);
  });
});
