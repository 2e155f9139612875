import { describe, expect, test } from "vitest";
import type { ChatMessage, ComponentModel, Message, ThoughtEvent } from "troupe";
import { createMessage } from "troupe";
import { agent, counter, roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";

function contents(messages: readonly Message[]): unknown[] {
  return messages.map((message) => "content" in message && message.content);
}

/** An agent that says all it was ever told and said. */
function parrot(name: string): ComponentModel {
  return agent(name, async function* (self, _ctx, messages: readonly ChatMessage[]) {
    yield* [];
    return [...self.said.slice(), ...contents(messages)].join("+");
  });
}

describe("a team", () => {
  test("is created once, and the same request again gets the same answer", async () => {
    const team = new TestTeam();
    const input = {
      id: team.id,
      label: "mine",
      metadata: { a: 1 },
      component: counter("a"),
      idempotency: { key: "k", hash: "h" },
    };
    const created = value(await team.gateway.create(input));
    expect(created).toMatchObject({
      id: team.id,
      label: "mine",
      metadata: { a: 1 },
      component_version: 1,
      status: "idle",
    });
    expect(value(await team.gateway.create(input))).toEqual(created);
    expect(
      await team.gateway.create({ ...input, idempotency: { key: "k", hash: "other" } }),
    ).toMatchObject({
      ok: false,
      problem: { status: 422, code: "idempotency_mismatch", errors: [{ path: "Idempotency-Key" }] },
    });
    const { idempotency: _, ...plain } = input;
    expect(await team.gateway.create(plain)).toMatchObject({
      ok: false,
      problem: { status: 409, code: "team_exists" },
    });
  });

  test("remembers its conversation when the object was unloaded", async () => {
    const team = await TestTeam.create(roundRobin([parrot("a"), parrot("b")], 2));
    await team.finished((await team.start("1")).id);
    await team.evict();
    const run = await team.finished((await team.start("2")).id);
    expect(texts(run)).toEqual(["2", "1+1+1+2", "1+1+2+1+1+1+2"]);
  });

  test("restores bodies that are too big for a row", async () => {
    const big = "ä".repeat(1_100_000);
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx, messages) {
            yield* [];
            const length = contents(messages).join("").length + self.said.slice().join("").length;
            return ctx.step("model:0", () => Promise.resolve(`${length}${big}`));
          }),
        ],
        1,
      ),
    );
    const first = await team.finished((await team.start("12345")).id);
    expect(first).toMatchObject({ status: "completed", result: null });
    await team.evict();
    const second = await team.finished((await team.start("1")).id);
    expect(second.status).toBe("completed");
    const { messages } = value(await team.gateway.messages({ limit: 10 }));
    expect(contents(messages)).toEqual(["12345", `5${big}`, "1", `1100002${big}`]);
    expect(await team.sql("select * from step")).toEqual([]);
    expect(await team.sql("select distinct owner from part where owner like 'step:%'")).toEqual([]);
  });

  test("lists its messages forwards, and backwards from the tail", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 4));
    await team.finished((await team.start("go")).id);
    const first = value(await team.gateway.messages({ limit: 2 }));
    expect(contents(first.messages)).toEqual(["go", "a 1"]);
    expect(first.next_before).toBeNull();
    const second = value(await team.gateway.messages({ after: first.next_after!, limit: 10 }));
    expect(contents(second.messages)).toEqual(["a 2", "a 3", "a 4"]);
    expect(second.next_after).toBeNull();

    const tail = value(await team.gateway.messages({ before: 1_000_000, limit: 2 }));
    expect(contents(tail.messages)).toEqual(["a 3", "a 4"]);
    expect(tail.next_after).toBeNull();
    const earlier = value(await team.gateway.messages({ before: tail.next_before!, limit: 10 }));
    expect(contents(earlier.messages)).toEqual(["go", "a 1", "a 2"]);
    expect(earlier.next_before).toBeNull();
  });

  test("has the messages of one turn, also in a fork and of a turn that failed before", async () => {
    let calls = 0;
    const flaky = agent("flaky", async function* (_self, ctx) {
      yield createMessage<ThoughtEvent>(ctx, {
        type: "ThoughtEvent",
        source: "flaky",
        content: "thinking",
      });
      if (++calls === 2) throw new Error("no");
      return "done";
    });
    const team = await TestTeam.create(roundRobin([counter("a"), flaky], 4));
    const of = async (turn: number, query = {}, from = team): Promise<unknown[]> =>
      contents(value(await from.gateway.messages({ turn, limit: 10, ...query })).messages);
    const failed = await team.finished((await team.start("go")).id);
    expect(failed.status).toBe("failed");
    expect(await of(1)).toEqual(["go"]);
    expect(await of(2)).toEqual(["a 1"]);
    expect(await of(3)).toEqual(["thinking", "done"]);
    expect(await of(5)).toEqual([]);
    value(await team.gateway.retryRun(failed.id));
    await expect.poll(() => of(5)).toEqual(["thinking", "done"]);
    const [first] = value(await team.gateway.messages({ turn: 5, limit: 1 })).messages;
    expect(await of(5, { after: first!.seq })).toEqual(["done"]);
    expect(await of(5, { before: first!.seq })).toEqual([]);
    const fork = await team.fork(4);
    for (const turn of [1, 2, 3, 4, 5])
      expect(await of(turn, {}, fork)).toEqual(turn === 5 ? [] : await of(turn));
  });

  test("has an empty conversation after a reset and keeps its messages and cursors", async () => {
    const team = await TestTeam.create(roundRobin([parrot("a")], 1));
    await team.finished((await team.start("1")).id);
    value(await team.gateway.reset());
    await team.evict();
    const run = await team.finished((await team.start("2")).id);
    expect(texts(run)).toEqual(["2", "2"]);
    const { messages } = value(await team.gateway.messages({ limit: 10 }));
    expect(contents(messages)).toEqual(["1", "1", "2", "2"]);
    expect(messages.map(({ seq }) => seq)).toEqual(
      messages.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
  });

  test("has a state that can be saved, loaded elsewhere, and does not fit everywhere", async () => {
    const component = roundRobin([counter("a"), counter("b")], 1);
    const team = await TestTeam.create(component);
    await team.finished((await team.start("go")).id);
    const state = value(await team.gateway.saveState());
    expect(state).toMatchObject({ type: "TeamState" });

    const other = await TestTeam.create(component);
    expect(await other.gateway.loadState({ type: "nonsense" })).toMatchObject({
      ok: false,
      problem: { status: 422 },
    });
    value(await other.gateway.loadState(state));
    await other.evict();
    expect(value(await other.gateway.saveState())).toEqual(state);
    expect(texts(await other.finished((await other.start(null)).id))).toEqual(["b 1"]);
  });

  test("cannot be changed while a run is active, and is gone when it is destroyed", async () => {
    const arrived = new Signal();
    const component = roundRobin(
      [
        agent("a", async function* (_self, ctx) {
          yield* [];
          return ctx.step("model:0", async () => {
            arrived.set();
            await new Promise(() => {});
            return "";
          });
        }),
      ],
      1,
    );
    const team = await TestTeam.create(component);
    const { id } = await team.start("go");
    await arrived.wait();
    const busy = { ok: false, problem: { status: 409, code: "team_busy", extra: { run_id: id } } };
    expect(await team.gateway.reset()).toMatchObject(busy);
    expect(await team.gateway.loadState({})).toMatchObject(busy);
    expect(await team.gateway.replaceComponent(component)).toMatchObject(busy);
    expect(value(await team.gateway.saveState())).toMatchObject({ type: "TeamState" });

    value(await team.gateway.destroy());
    expect(await team.gateway.run(id)).toMatchObject({
      ok: false,
      problem: { status: 404, code: "team_not_found" },
    });
    expect(await team.alarm()).toBeNull();
    expect(
      value(await team.gateway.create({ id: team.id, label: null, metadata: {}, component })),
    ).toMatchObject({
      status: "idle",
    });
  });

  test("lists its runs, newest first", async () => {
    const team = await TestTeam.create(counter("a"));
    const ids: string[] = [];
    for (const task of ["1", "2", "3"])
      ids.push((await team.finished((await team.start(task)).id)).id);
    const page = value(await team.gateway.runs({ limit: 2 }));
    expect(page.runs.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const last = value(await team.gateway.runs({ limit: 2, cursor: page.next_cursor! }));
    expect(last.runs.map(({ id }) => id)).toEqual([ids[0]]);
    expect(last.next_cursor).toBeNull();
  });
});

describe("the limits of a team", () => {
  test("fail a run that takes longer than it may", async () => {
    const arrived = new Signal();
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        return ctx.step("model:0", async () => {
          arrived.set();
          await new Promise(() => {});
          return "";
        });
      }),
    );
    const { id } = await team.start("go", { timeout_seconds: 0.3 });
    await arrived.wait();
    expect(await team.finished(id)).toMatchObject({
      status: "failed",
      error: { type: "run_timeout" },
    });
  });
});
