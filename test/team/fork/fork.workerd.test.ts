import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import type { ComponentModel, JsonObject } from "troupe";
import { toModelText } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import {
  FIRST_ROW,
  type ForkCursor,
  fork,
  type ForkSourceStub,
  type ForkTargetStub,
} from "#team/fork/fork.ts";
import { agent, counter, roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";

const human: ComponentModel = { provider: "UserProxyAgent", config: { name: "human" } };

function replaying(name: string, answers: readonly string[]): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: "replays",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: {
        provider: "ReplayChatCompletionClient",
        config: { chat_completions: [...answers] },
      },
    },
  };
}

/** A round robin that ends its run after this many messages. */
function limited(participants: readonly ComponentModel[], messages: number): ComponentModel {
  return {
    provider: "RoundRobinGroupChat",
    config: {
      participants: participants as never,
      termination_condition: {
        provider: "MaxMessageTermination",
        config: { max_messages: messages },
      },
    },
  };
}

async function contents(team: TestTeam): Promise<unknown[]> {
  const { messages } = value(await team.gateway.messages({ limit: 200 }));
  return messages.map((message) => "content" in message && message.content);
}

async function state(team: TestTeam): Promise<JsonObject> {
  return value(await team.gateway.saveState());
}

/** Answers the run's questions one after the other, to its end. */
async function converse(
  team: TestTeam,
  run: string,
  answers: readonly string[],
  before = (): Promise<void> => Promise.resolve(),
): Promise<RunInfo> {
  for (const content of answers) {
    const request = (await team.rested(run)).requests[0]!.id;
    await before();
    value(await team.gateway.answer(run, request, { content }));
  }
  return team.finished(run);
}

async function turnOf(team: TestTeam): Promise<number> {
  return value(await team.gateway.team()).turn;
}

const KEY = { key: "once", hash: "body" };

/** Objects of a fork that is to be interrupted. */
function stubs(team: TestTeam): ForkSourceStub & ForkTargetStub {
  const stub: unknown = team.stub;
  return stub as ForkSourceStub & ForkTargetStub;
}

describe("a fork", () => {
  test("equals the team at the end of its turn, and continues like it", async () => {
    const original = await TestTeam.create(limited([replaying("a", ["a1", "a2", "a3"]), human], 7));
    const past: { turn: number; state: JsonObject; said: unknown[] }[] = [];
    const note = async (): Promise<void> => {
      const chat = (await contents(original)).filter((text) => text !== "");
      past.push({ turn: await turnOf(original), state: await state(original), said: chat });
    };
    await note();
    await converse(original, (await original.start("go")).id, ["h1", "h2", "h3"], note);
    await note();
    expect(past.map(({ turn, said }) => [turn, said.length])).toEqual([
      [0, 0],
      [2, 2],
      [4, 4],
      [6, 6],
      [7, 7],
    ]);

    const whole = past[4]!.said;
    expect(whole).toEqual(["go", "a1", "h1", "a2", "h2", "a3", "h3"]);
    for (const [index, { turn, state: then, said }] of past.entries()) {
      const copy = await original.fork(turn);
      expect(await state(copy)).toEqual(then);
      expect((await contents(copy)).filter((text) => text !== "")).toEqual(said);
      expect(value(await copy.gateway.team())).toMatchObject({
        turn,
        forked_from: { team_id: original.id, turn },
        status: "idle",
        usage: { prompt_tokens: 0 },
      });
      await copy.evict();
      expect(await state(copy)).toEqual(then);
      if (turn === 7) continue;
      const { id } = await copy.start(turn === 0 ? "go" : null);
      const answers = ["h1", "h2", "h3"].slice(Math.max(0, index - 1));
      const run = await converse(copy, id, answers);
      expect(run.stop_reason).toContain("7");
      expect(await contents(copy)).toEqual(await contents(original));
    }
  });

  test("can be made while a run is active, and leaves it alone", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), human], 4));
    const { id } = await team.start("go");
    await team.rested(id);
    const copy = await team.fork();
    expect(value(await copy.gateway.team())).toMatchObject({ status: "idle", turn: 2 });
    expect(await contents(copy)).toEqual(["go", "a 1"]);
    const again = await copy.start(null);
    await converse(copy, again.id, ["one", "two"]);
    await converse(team, id, ["one", "two"]);
    expect(await contents(copy)).toEqual(await contents(team));
    expect(await contents(copy)).toEqual(["go", "a 1", "", "one", "a 2", "", "two"]);
  });

  test("continues with the task that a single agent had not answered yet", async () => {
    const [arrived, go] = [new Signal(), new Signal()];
    const single = agent("a", async function* (_self, ctx, messages) {
      yield* [];
      arrived.set();
      await ctx.step("model:0", () => go.wait().then(() => null));
      return `heard ${messages.map(toModelText).join()}`;
    });
    const team = await TestTeam.create(single);
    await team.start("go");
    await arrived.wait();
    const copy = await team.fork(1);
    go.set();
    expect(texts(await copy.finished((await copy.start(null)).id))).toEqual(["heard go"]);
  });

  test("has the conversation since the last reset, or the loaded one, of its turn", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    await team.finished((await team.start("one")).id);
    const one = await state(team);
    await team.finished((await team.start("two")).id);
    const beforeReset = await turnOf(team);
    value(await team.gateway.reset());
    await team.finished((await team.start("three")).id);
    const beforeLoad = await turnOf(team);
    value(await team.gateway.loadState(one));
    await team.finished((await team.start("four")).id);
    expect(await contents(team)).toEqual([
      "one",
      "a 1",
      "two",
      "a 2",
      "three",
      "a 1",
      "four",
      "a 2",
    ]);

    const earlier = await team.fork(beforeReset);
    expect(await contents(earlier)).toEqual(["one", "a 1", "two", "a 2"]);
    expect(texts(await earlier.finished((await earlier.start("now")).id))).toEqual(["now", "a 3"]);
    expect(await contents(await team.fork(beforeReset + 1))).toEqual([]);
    expect(await contents(await team.fork(beforeLoad))).toEqual(["three", "a 1"]);
    const loaded = await team.fork();
    expect(await contents(loaded)).toEqual(["one", "a 1", "four", "a 2"]);
    expect(await state(loaded)).toEqual(await state(team));
    // A fork of the fork copies what the fork has, wherever that came from.
    expect(await contents(await loaded.fork())).toEqual(["one", "a 1", "four", "a 2"]);
  });

  test("has the component of its turn", async () => {
    const a = counter("a");
    const team = await TestTeam.create(roundRobin([a], 1));
    const first = value(await team.gateway.team()).component;
    await team.finished((await team.start("go")).id);
    const turn = await turnOf(team);
    const second = roundRobin([a], 2);
    value(await team.gateway.replaceComponent(second));
    value(await team.gateway.replaceComponent(roundRobin([a], 3)));
    expect(value(await (await team.fork(turn)).gateway.team()).component).toEqual(first);
    expect(value(await (await team.fork(turn + 1)).gateway.team()).component).toEqual(second);
    const last = await team.fork();
    expect(texts(await last.finished((await last.start(null)).id))).toEqual(["a 2", "a 3", "a 4"]);
  });

  test("is refused at a turn that is not finished, with those that are", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    await team.finished((await team.start("go")).id);
    const copy = await team.fork(1);
    const refused = (range: string): object => ({
      ok: false,
      problem: {
        status: 422,
        code: "unknown_turn",
        errors: [{ path: "turn", message: `must be from ${range}` }],
      },
    });
    const id = new TestTeam().id;
    expect(await team.gateway.fork({ id, turn: 3 })).toMatchObject(refused("0 to 2"));
    // What came before stayed behind.
    expect(await copy.gateway.fork({ id, turn: 0 })).toMatchObject(refused("1 to 1"));
    for (const taken of [team.id, copy.id]) {
      expect(await team.gateway.fork({ id: taken, turn: null })).toMatchObject({
        ok: false,
        problem: { status: 409, code: "team_exists" },
      });
    }
    const [nobody, new_] = [new TestTeam(), new TestTeam()];
    expect(await nobody.gateway.fork({ id: new_.id, turn: null })).toMatchObject({
      ok: false,
      problem: { status: 404, code: "team_not_found" },
    });
    for (const untouched of [nobody, new_]) {
      expect(await untouched.sql("select name from sqlite_master where name = 'meta'")).toEqual([]);
    }
  });
});

describe("a long conversation", () => {
  const long = "a talk ".repeat(9_000);
  const big = "ä".repeat(1_100_000);

  /** Says 60 KB at a time, once 2 MB. */
  function talker(): ComponentModel {
    return agent("a", async function* (self, ctx) {
      yield* [];
      const text = self.answers === 10 ? big : long;
      return ctx.step("model:0", () => Promise.resolve(`${self.answers} ${text}`));
    });
  }

  test("is forked in pages, and its logs are not copied turn by turn", async () => {
    const team = await TestTeam.create(roundRobin([talker(), counter("b")], 80));
    await team.finished((await team.start("go")).id);
    const copy = await team.fork();
    await copy.evict();
    expect(await state(copy)).toEqual(await state(team));
    expect(await contents(copy)).toEqual(await contents(team));
    expect(await copy.sql("select turn from head where path = ''")).toHaveLength(1);
    const rows = async (of: TestTeam, path: string): Promise<number> =>
      (await of.sql(`select start from log where path = '${path}'`)).length;
    expect(await rows(team, "b/said")).toBe(40);
    expect(await rows(copy, "b/said")).toBe(1);
    expect(await rows(copy, "thread")).toBeLessThan(await rows(team, "thread"));
    await copy.finished((await copy.start(null)).id);
    expect((await contents(copy))[82]).toBe("b 41");
  });

  test("becomes a team when all of it has arrived, and the same request completes it", async () => {
    const team = await TestTeam.create(roundRobin([talker()], 40));
    await team.finished((await team.start("go")).id);
    const copy = new TestTeam();
    const input = { id: copy.id, turn: null, idempotency: KEY };
    const [source, target] = [stubs(team), stubs(copy)];
    let pages = 0;
    const failing: ForkTargetStub = {
      forkProgress: (request) => target.forkProgress(request),
      beginFork: (request, point) => target.beginFork(request, point),
      continueFork(request, cursor, page) {
        if (++pages > 2) throw new Error("the connection was lost");
        return target.continueFork(request, cursor, page);
      },
      team: () => target.team(),
    };
    await expect(fork(source, failing, input)).rejects.toThrow("lost");
    await copy.evict();
    expect(await copy.gateway.team()).toMatchObject({ ok: false, problem: { status: 404 } });
    expect(await copy.gateway.messages({ limit: 1 })).toMatchObject({ ok: false });
    // What the team does meanwhile is not the fork's: it keeps its turn.
    const turn = await turnOf(team);
    await team.finished((await team.start("more")).id);

    const cursors: ForkCursor[] = [];
    const watched: ForkSourceStub = {
      forkPoint: (at) => source.forkPoint(at),
      forkPage(position, cursor) {
        cursors.push(cursor);
        return source.forkPage(position, cursor);
      },
    };
    const [one, other] = await Promise.all([
      fork(watched, target, input),
      fork(watched, target, input),
    ]);
    expect(value(one)).toMatchObject({ turn });
    expect(value(other)).toEqual(value(one));
    expect(value(await fork(watched, target, input))).toEqual(value(one));
    expect(cursors.length).toBeGreaterThan(0);
    expect(cursors).not.toContainEqual(FIRST_ROW);
    expect(await contents(copy)).toEqual((await contents(team)).slice(0, 41));
    expect(await copy.alarm()).toBeNull();
    expect(
      await team.gateway.fork({ ...input, idempotency: { ...KEY, hash: "another" } }),
    ).toMatchObject({ ok: false, problem: { status: 422, code: "idempotency_mismatch" } });
  });

  test("is the same whatever is lost on the way, and whatever happens to the team meanwhile", async () => {
    const [a, b] = [talker(), counter("b")];
    const team = await TestTeam.create(roundRobin([a, b], 60));
    await team.finished((await team.start("go")).id);
    const before = {
      state: await state(team),
      said: await contents(team),
      turn: await turnOf(team),
    };
    const meanwhile = [
      () => team.start("more").then(({ id }) => team.finished(id)),
      () => team.gateway.replaceComponent(roundRobin([b, a], 3)),
      () => team.gateway.reset(),
      () => team.gateway.loadState(before.state),
    ];
    const copy = new TestTeam();
    const input = { id: copy.id, turn: null, idempotency: KEY };
    let pages = 0;
    for (let complete = false; !complete;) {
      const [source, target] = [stubs(team), stubs(copy)];
      let arrived = 0;
      const lossy: ForkTargetStub = {
        forkProgress: (request) => target.forkProgress(request),
        beginFork: (request, point) => target.beginFork(request, point),
        async continueFork(...page) {
          if (arrived++ > 0) throw new Error("a page was lost");
          const progress = await target.continueFork(...page);
          if (++pages % 2 === 0) throw new Error("an answer was lost");
          return progress;
        },
        team: () => target.team(),
      };
      const forked = await fork(source, lossy, input).catch((error: unknown) => String(error));
      complete = typeof forked !== "string";
      if (!complete) expect(forked).toContain("was lost");
      await copy.evict();
      await meanwhile.shift()?.();
    }
    expect(meanwhile).toEqual([]);
    expect(await state(copy)).toEqual(before.state);
    expect(await contents(copy)).toEqual(before.said);
    expect(await turnOf(copy)).toBe(before.turn);
    const [tables, parts] = await Promise.all([
      copy.sql<{ name: string }>("select name from meta order by name"),
      copy.sql<{ owner: string }>("select distinct owner from part order by owner"),
    ]);
    expect(tables.map(({ name }) => name)).toEqual(["component", "schema", "team"]);
    // The long message as it was said, in the thread, and in what its speaker remembers.
    expect(parts.map(({ owner }) => owner.split(":")[0])).toEqual(["event", "log", "log"]);
  });

  test("leaves nothing behind if it is given up", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 2));
    await team.finished((await team.start("go")).id);
    const point = value(await stubs(team).forkPoint(null));
    const begun = async (): Promise<TestTeam> => {
      const copy = new TestTeam();
      value(await stubs(copy).beginFork({ id: copy.id, origin: "nobody" }, point));
      expect(await copy.alarm()).not.toBeNull();
      return copy;
    };
    const [waiting, taken] = [await begun(), await begun()];
    await runDurableObjectAlarm(waiting.stub);
    expect(await waiting.alarm()).not.toBeNull();
    vi.setSystemTime(Date.now() + 3_600_000);
    try {
      await runDurableObjectAlarm(waiting.stub);
    } finally {
      vi.useRealTimers();
    }
    expect(await waiting.alarm()).toBeNull();
    expect(await waiting.sql("select name from sqlite_master where name = 'meta'")).toEqual([]);

    const component = counter("b");
    const marker = { ...component, config: { ...component.config, api_key: "**********" } };
    const refused = { id: taken.id, label: null, metadata: {}, component: marker };
    expect(await taken.gateway.create(refused)).toMatchObject({ problem: { status: 422 } });
    expect(await taken.alarm()).not.toBeNull();
    value(await taken.gateway.create({ id: taken.id, label: null, metadata: {}, component }));
    expect(value(await taken.gateway.team())).toMatchObject({ turn: 0, forked_from: null });
    const page = value(await stubs(team).forkPage(point, FIRST_ROW));
    expect(
      await stubs(taken).continueFork({ id: taken.id, origin: "nobody" }, FIRST_ROW, page),
    ).toMatchObject({ ok: false, problem: { status: 409, code: "team_exists" } });
  });

  test("is not completed from another team if its own is deleted meanwhile", async () => {
    const team = await TestTeam.create(roundRobin([talker()], 40));
    const component = roundRobin([counter("a")], 2);
    await team.finished((await team.start("go")).id);
    const point = value(await stubs(team).forkPoint(null));
    expect(value(await stubs(team).forkPage(point, FIRST_ROW)).next).not.toBeNull();
    value(await team.gateway.destroy());
    expect(await stubs(team).forkPage(point, FIRST_ROW)).toMatchObject({ ok: false });
    value(await team.gateway.create({ id: team.id, label: null, metadata: {}, component }));
    expect(await stubs(team).forkPage(point, FIRST_ROW)).toMatchObject({
      ok: false,
      problem: { status: 404, code: "team_not_found" },
    });
  });
});
