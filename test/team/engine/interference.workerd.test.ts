import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { thought } from "../support/scripted-agent.ts";
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

const human: ComponentModel = { provider: "UserProxyAgent", config: { name: "human" } };

/** An agent whose step says that it runs and then does not end by itself. */
function stuck(arrived: Signal): ComponentModel {
  return agent("stuck", async function* (self, ctx) {
    yield thought(self.name, ctx, "thinking");
    return ctx.step("model:0", async () => {
      arrived.set();
      await new Promise(() => {});
      return "";
    });
  });
}

describe("questions", () => {
  test("that a halted branch asked are closed with the turn", async () => {
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (_self, ctx) {
            yield* [];
            try {
              yield* ctx.all<never, unknown>([
                {
                  key: "asks",
                  // eslint-disable-next-line require-yield
                  run: async function* (scope) {
                    return scope.ask({ id: scope.id(), kind: "input", source: "a", prompt: "?" });
                  },
                },
                {
                  key: "fails",
                  // eslint-disable-next-line require-yield
                  run: async function* (scope) {
                    await scope.step("look", () => Promise.resolve(null));
                    throw new TypeError("broken");
                  },
                },
              ]);
            } catch {
              return "went on";
            }
            return "never";
          }),
          human,
        ],
        2,
      ),
    );
    const { id } = await team.start("go");
    const waiting = await team.rested(id);
    expect(waiting.requests.map(({ source }) => source)).toEqual(["human"]);
    expect(await team.sql("select id from question")).toHaveLength(1);
  });

  test("are answered under the run that asks them", async () => {
    const team = await TestTeam.create(roundRobin([human], 1));
    const first = await team.start("one");
    await team.rested(first.id);
    value(await team.gateway.stopRun(first.id, "now"));
    const second = await team.start("two");
    const request = (await team.rested(second.id)).requests[0]!.id;
    expect(await team.gateway.answer(first.id, request, { content: "x" })).toMatchObject({
      ok: false,
      problem: { status: 409, code: "run_ended" },
    });
    expect((await team.run(second.id)).requests).toHaveLength(1);
  });

  test("a retry takes over answers and asks what was open again", async () => {
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        const answers: string[] = [];
        for (const key of ["one", "two"]) {
          const answer = await ctx.ask({ id: ctx.id(), kind: "input", source: "a", prompt: key });
          answers.push(
            "content" in answer && typeof answer.content === "string" ? answer.content : "",
          );
        }
        return answers.join("+");
      }),
    );
    const { id } = await team.start("go");
    const one = (await team.rested(id)).requests[0]!;
    value(await team.gateway.answer(id, one.id, { content: "1" }));
    const two = (await team.rested(id)).requests[0]!;
    expect(two.prompt).toBe("two");
    value(await team.gateway.stopRun(id, "now"));
    expect(await team.gateway.answer(id, two.id, { content: "2" })).toMatchObject({
      ok: false,
      problem: { status: 409, code: "run_ended" },
    });

    const retry = value(await team.gateway.retryRun(id));
    const again = (await team.rested(retry.id)).requests;
    expect(again.map(({ prompt }) => prompt)).toEqual(["two"]);
    value(await team.gateway.answer(retry.id, again[0]!.id, { content: "2" }));
    expect(texts(await team.finished(retry.id)).at(-1)).toBe("1+2");
  });
});

describe("stopping at once", () => {
  const limited: ComponentModel = {
    provider: "RoundRobinGroupChat",
    config: {
      participants: [counter("a"), human] as never,
      termination_condition: { provider: "MaxMessageTermination", config: { max_messages: 3 } },
    },
  };

  test("restarts conditions and turns, as any other stop does", async () => {
    const team = await TestTeam.create(limited);
    const first = await team.start("go");
    await team.rested(first.id);
    expect(value(await team.gateway.stopRun(first.id, "after_turn"))).toMatchObject({
      status: "completed",
      turns: 1,
    });
    await team.evict();
    const second = await team.start("again");
    const waiting = await team.rested(second.id);
    expect(waiting.status).toBe("waiting");
    value(await team.gateway.answer(second.id, waiting.requests[0]!.id, { content: "yes" }));
    expect(texts(await team.finished(second.id))).toEqual(["again", "", "yes", "a 2"]);
  });
});

describe("destroying a team", () => {
  test("ends its run on streams, and callers that wait learn that the team is gone", async () => {
    const arrived = new Signal();
    const component = roundRobin([stuck(arrived)], 1);
    const team = await TestTeam.create(component);
    const { id } = await team.start("go");
    await arrived.wait();
    const waited = team.gateway.waitForRun(id, 60_000);
    // A stream is open once its first frame is there.
    const streams = [await team.stream(id), await team.stream(null)];
    for (const stream of streams) await stream.next();
    value(await team.gateway.destroy());
    expect(await waited).toMatchObject({ ok: false, problem: { code: "team_not_found" } });
    for (const stream of streams) {
      const left: unknown[] = [];
      for await (const frame of stream) left.push(...outline([frame]));
      expect(left.at(-1)).toBe("run cancelled");
    }
    await team.erased();
    expect(
      await team.sql("select name from sqlite_master where type = 'table'"),
    ).not.toContainEqual({ name: "event" });
    expect(await team.alarm()).toBeNull();
  });

  test("T7: a step that still runs does not write into the next team of the id", async () => {
    const [arrived, go] = [new Signal(), new Signal()];
    const ended: string[] = [];
    const component = roundRobin(
      [
        agent("slow", async function* (self, ctx) {
          try {
            yield* [];
            await ctx.step("model:0", () => {
              arrived.set();
              return go.wait().then(() => null);
            });
            yield thought(self.name, ctx, "too late");
            return "too late";
          } finally {
            ended.push("slow");
          }
        }),
      ],
      1,
    );
    const team = await TestTeam.create(component);
    await team.start("go");
    await arrived.wait();
    value(await team.gateway.destroy());
    value(
      await team.gateway.create({
        id: team.id,
        label: null,
        metadata: {},
        component: roundRobin([counter("new")], 1),
      }),
    );
    go.set();
    expect(texts(await team.finished((await team.start("hello")).id))).toEqual(["hello", "new 1"]);
    expect(ended).toEqual(["slow"]);
    expect(value(await team.gateway.messages({ limit: 10 })).messages).toHaveLength(2);
  });
});
