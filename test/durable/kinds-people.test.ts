import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { ComponentModel } from "../../src/core/component/component.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { RunInfo } from "../../src/core/run/gateway.ts";
import { ModelError } from "../../src/core/models/model-error.ts";
import type { Effects } from "./support/effects.ts";
import {
  agentTool,
  assistant,
  boss,
  filtered,
  graph,
  handsOver,
  type Kind,
  magenticOne,
  named,
  nameOf,
  selector,
  society,
  speaker,
  swarm,
  teamTool,
} from "./support/kinds.ts";
import { expectTidy, outcomeOf, type Subject, subjectOf } from "./support/outcome.ts";
import { agent, roundRobin, value } from "./support/team.ts";

function human(config: JsonObject = {}, name = "human"): ComponentModel {
  return { provider: "UserProxyAgent", config: { name, ...config } };
}

const DEADLINE = { timeout_seconds: 3600, default_answer: "so be it" };

/** Where a human can be. Each is asked once. */
const SEATS: {
  seat: string;
  around: (asked: ComponentModel, effects: Effects) => ComponentModel;
}[] = [
  {
    seat: "a team in a team in a team",
    around: (asked, effects) =>
      roundRobin(
        [
          speaker(effects, "a"),
          named(
            roundRobin(
              [
                assistant(effects, "b"),
                named(roundRobin([speaker(effects, "c"), asked], 2), "inner"),
              ],
              2,
            ),
            "middle",
          ),
          speaker(effects, "d"),
        ],
        3,
      ),
  },
  {
    seat: "a SelectorGroupChat",
    around: (asked, effects) => selector(effects, [speaker(effects, "a"), asked], 3),
  },
  {
    seat: "a Swarm, by a handoff",
    around: (asked, effects) =>
      swarm(
        [
          assistant(effects, "a", { handoffs: ["human"] }, handsOver(["human"])),
          asked,
          speaker(effects, "b"),
        ],
        3,
      ),
  },
  {
    seat: "a MagenticOneGroupChat",
    around: (asked, effects) =>
      magenticOne(effects, ["human", "a"], [asked, speaker(effects, "a")]),
  },
  {
    seat: "a GraphFlow",
    around: (asked, effects) =>
      graph([speaker(effects, "a"), asked, speaker(effects, "b")], ["a>human", "human>b"]),
  },
  {
    seat: "a wave",
    around: (asked, effects) =>
      graph(
        [speaker(effects, "a"), asked, assistant(effects, "b"), speaker(effects, "c")],
        ["a>human", "a>b", "human>c", "b>c"],
      ),
  },
  {
    seat: "the team of a SocietyOfMindAgent",
    around: (asked, effects) =>
      roundRobin(
        [
          society(effects, "mind", roundRobin([speaker(effects, "a"), asked], 2)),
          speaker(effects, "b"),
        ],
        2,
      ),
  },
  {
    seat: "an AgentTool",
    around: (asked, effects) => boss(effects, "boss", [agentTool(asked)], ["human"]),
  },
  {
    seat: "a TeamTool, beside another tool",
    around: (asked, effects) =>
      boss(
        effects,
        "boss",
        [
          teamTool("crew", roundRobin([speaker(effects, "a"), asked], 2)),
          agentTool(assistant(effects, "worker")),
        ],
        ["crew", "worker"],
      ),
  },
  {
    seat: "a MessageFilterAgent",
    around: (asked, effects) =>
      roundRobin([speaker(effects, "a"), filtered(asked, "a"), speaker(effects, "b")], 3),
  },
];

async function waiting(kind: Kind): Promise<Subject & { run: RunInfo }> {
  const subject = await subjectOf(kind);
  const run = await subject.team.rested((await subject.team.start("go")).id);
  expect(run).toMatchObject({ status: "waiting" });
  return { ...subject, run };
}

/** What is open is answered, by who asks. */
async function answer({ team }: Subject, run: RunInfo, content: string, source = "human") {
  const request = value(await team.gateway.requests(run.id)).find((one) => one.source === source);
  return value(await team.gateway.answer(run.id, request?.id ?? "", { content }));
}

describe.each(SEATS)("a human in $seat", ({ seat, around }) => {
  const asking = (config: JsonObject = {}): Kind => ({
    name: seat,
    component: (effects) => around(human(config), effects),
  });

  test("is waited for without an object, and the answer carries the run on", async () => {
    const reference = await waiting(asking());
    await answer(reference, reference.run, "so be it");
    await reference.team.finished(reference.run.id);
    const outcome = await outcomeOf(reference.team);
    expect(JSON.stringify(outcome.said)).toContain('"content":"so be it"');

    const subject = await waiting(asking());
    const { team, run } = subject;
    expect(run.requests).toMatchObject([{ kind: "input", source: "human" }]);
    expect(await team.alarm()).toBeNull();
    await team.evict();
    await answer(subject, run, "so be it");
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    expect(await outcomeOf(team)).toEqual(outcome);
    await expectTidy(subject);

    const late = await waiting(asking(DEADLINE));
    await late.team.sql("update question set expires_at = 1");
    await late.team.evict();
    await runDurableObjectAlarm(late.team.stub);
    expect(await late.team.finished(late.run.id)).toMatchObject({ status: "completed" });
    expect(await outcomeOf(late.team)).toEqual(outcome);
    await expectTidy(late);
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
    await expectTidy(subject);
  });
});

describe("in a wave", () => {
  const wave = (people: readonly ComponentModel[]): Kind => ({
    name: "a wave",
    component: (effects) => {
      const names = people.map(nameOf);
      return graph(
        [
          speaker(effects, "start"),
          ...people,
          assistant(effects, "worker"),
          speaker(effects, "end"),
        ],
        [...names, "worker"].flatMap((name) => [`start>${name}`, `${name}>end`]),
      );
    },
  });
  const ann = human({}, "ann");
  const bob = human({}, "bob");
  const WORK = "2/speaker:worker/model:0";

  test("two humans are answered in either order", async () => {
    const outcomes = [];
    for (const [first, second] of [
      ["ann", "bob"],
      ["bob", "ann"],
    ] as const) {
      const subject = await waiting(wave([ann, bob]));
      const { team, run } = subject;
      expect(run.requests.map(({ source }) => source)).toEqual(["ann", "bob"]);
      await answer(subject, run, `${first} knows`, first);
      const still = await team.rested(run.id);
      expect(still).toMatchObject({ status: "waiting", requests: [{ source: second }] });
      await team.evict();
      await answer(subject, run, `${second} knows`, second);
      expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
      await expectTidy(subject);
      outcomes.push(await outcomeOf(team));
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  test.each(["ends", "is lost"])(
    "an answer may come before the turn waits for it, while a step %s",
    async (fate) => {
      const subject = await subjectOf(wave([ann, bob]));
      const { team, effects } = subject;
      const release = fate === "ends" ? effects.hold(WORK) : effects.hang(WORK);
      const run = await team.start("go");
      await effects.until(WORK);
      expect(value(await team.gateway.requests(run.id))).toHaveLength(2);
      expect(await answer(subject, run, "ann knows", "ann")).toMatchObject({ status: "running" });
      if (release) release();
      else {
        await team.evict();
        await runDurableObjectAlarm(team.stub);
      }
      const rested = await team.rested(run.id);
      expect(rested).toMatchObject({ status: "waiting", requests: [{ source: "bob" }] });
      await answer(subject, run, "bob knows", "bob");
      expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
      await expectTidy(subject);
    },
  );

  test("both may have answered before it waits; then it never does", async () => {
    const subject = await subjectOf(wave([ann, bob]));
    const { team, effects } = subject;
    const release = effects.hold(WORK);
    const run = await team.start("go");
    const stream = await team.stream(run.id);
    await effects.until(WORK);
    await answer(subject, run, "bob knows", "bob");
    await answer(subject, run, "ann knows", "ann");
    release();
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    const seen: unknown[] = [];
    for await (const { event, data } of stream) {
      if (event === "run") seen.push((data as RunInfo).status);
    }
    expect(seen).not.toContain("waiting");
    await expectTidy(subject);
  });

  test("a deadline is one question's own", async () => {
    const subject = await waiting(wave([human(DEADLINE, "ann"), bob]));
    const { team, run } = subject;
    expect(await team.alarm()).not.toBeNull();
    await team.sql("update question set expires_at = 1 where expires_at is not null");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    const rested = await team.rested(run.id);
    expect(rested).toMatchObject({ status: "waiting", requests: [{ source: "bob" }] });
    expect(await team.alarm()).toBeNull();
    await answer(subject, run, "bob knows", "bob");
    const { said } = await outcomeOf((await team.finished(run.id), team));
    expect(JSON.stringify(said["ann"])).toContain("so be it");
    await expectTidy(subject);
  });

  test("a deadline may pass while another still works", async () => {
    const subject = await subjectOf(wave([human({ ...DEADLINE, timeout_seconds: 0.001 }, "ann")]));
    const { team, effects } = subject;
    const release = effects.hold(WORK);
    const run = await team.start("go");
    await effects.until(WORK);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
    await runDurableObjectAlarm(team.stub);
    expect(await team.run(run.id)).toMatchObject({ status: "running", requests: [] });
    release();
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    await expectTidy(subject);
  });

  test("a failure closes what is open, and a retry knows what was answered", async () => {
    const subject = await subjectOf(wave([ann, bob]));
    const { team, effects } = subject;
    const release = effects.hold(WORK);
    const run = await team.start("go");
    await effects.until(WORK);
    const [, asked] = value(await team.gateway.requests(run.id));
    await answer(subject, run, "ann knows", "ann");
    release(new ModelError("auth", "out of order"));
    const failed = await team.finished(run.id);
    expect(failed).toMatchObject({ status: "failed", requests: [] });

    const retry = value(await team.gateway.retryRun(failed.id));
    const rested = await team.rested(retry.id);
    expect(rested).toMatchObject({
      status: "waiting",
      requests: [{ id: asked?.id, source: "bob" }],
    });
    await answer(subject, retry, "bob knows", "bob");
    expect(await team.finished(retry.id)).toMatchObject({ status: "completed" });
    const { said } = await outcomeOf(team);
    expect(JSON.stringify(said["ann"])).toContain("ann knows");
    await expectTidy(subject);
  });
});

describe("an approval", () => {
  test.each([true, false])(
    "(%s) asked for by an agent of one's own in a graph",
    async (approved) => {
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
      expect(effects.begun.filter((place) => place.endsWith("send"))).toHaveLength(
        approved ? 1 : 0,
      );
      await expectTidy(subject);
    },
  );
});

describe("a swarm", () => {
  test("gets the word back from the human, or it goes where the human says", async () => {
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
    await expectTidy(subject);
  });
});

describe("calls of tools with humans in them", () => {
  test("ask side by side", async () => {
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
    await expectTidy(subject);
  });

  test("ask one after the other where it is the same human", async () => {
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
    await expectTidy(subject);
  });
});
