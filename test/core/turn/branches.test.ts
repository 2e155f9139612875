import { describe, expect, test } from "vitest";
import { runBranches } from "#core/turn/branches.ts";
import { TurnSignal, type TurnSignalKind } from "troupe";
import { outcome } from "../support/recording-host.ts";

async function* count(name: string, to: number): AsyncGenerator<string, string, void> {
  for (let index = 1; index <= to; index++) {
    await Promise.resolve();
    yield `${name}${index}`;
  }
  return name;
}

// oxlint-disable-next-line require-yield
async function* fail(reason: Error): AsyncGenerator<string, string, void> {
  await Promise.resolve();
  throw reason;
}

const ignore = (): void => {};

describe("branches", () => {
  test("yield as items arrive and return in their own order", async () => {
    const { items, result } = await outcome(runBranches([count("a", 3), count("b", 1)], ignore));
    expect(result).toEqual(["a", "b"]);
    expect(items.filter((item) => item.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(items.indexOf("b1")).toBeLessThan(items.indexOf("a3"));
  });

  test("that run in turn yield one after the other where none has to wait", async () => {
    const branches = [count("a", 2), fail(new TurnSignal("suspend")), count("b", 2), count("c", 0)];
    const { items, error } = await outcome(runBranches(branches, ignore, true));
    expect(items).toEqual(["a1", "a2", "b1", "b2"]);
    expect(error).toMatchObject({ kind: "suspend" });
  });

  test("that run in turn do not wait for one that waits", async () => {
    let go = (): void => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slow = async function* (): AsyncGenerator<string, string, void> {
      yield "slow begins";
      await gone;
      yield "slow ends";
      return "slow";
    };
    const quick = async function* (): AsyncGenerator<string, string, void> {
      yield "quick";
      go();
      return "quick";
    };
    const { items, result } = await outcome(runBranches([slow(), quick()], ignore, true));
    expect(items).toEqual(["slow begins", "quick", "slow ends"]);
    expect(result).toEqual(["slow", "quick"]);
  });

  test("are none and give an empty result", async () => {
    expect(await outcome(runBranches([], ignore))).toEqual({ items: [], result: [] });
  });

  test("run one item ahead of a consumer that stops reading, not further", async () => {
    let made = 0;
    const endless = async function* (): AsyncGenerator<number, void, void> {
      for (;;) yield await Promise.resolve(++made);
    };
    const running = runBranches([endless(), endless()], ignore);
    await running.next();
    for (let tick = 0; tick < 50; tick++) await Promise.resolve();
    expect(made).toBeLessThanOrEqual(3);
    await running.return([]);
  });

  test("are all drained before a failure is thrown, and get it", async () => {
    let told = 0;
    const { items, error } = await outcome(
      runBranches([fail(new Error("broken")), count("b", 3)], () => told++),
    );
    expect(items).toEqual(["b1", "b2", "b3"]);
    expect(error).toMatchObject({ message: "broken" });
    expect(told).toBe(1);
  });

  test.each<[TurnSignalKind[], TurnSignalKind]>([
    [["halt", "suspend"], "suspend"],
    [["suspend", "pause"], "pause"],
    [["pause", "cancel"], "cancel"],
    [["cancel", "superseded"], "superseded"],
  ])("throw the most important of the signals %j", async (kinds, expected) => {
    let told = 0;
    const { error } = await outcome(
      runBranches(
        kinds.map((kind) => fail(new TurnSignal(kind))),
        () => told++,
      ),
    );
    expect(error).toMatchObject({ kind: expected });
    expect(told).toBe(0);
  });

  test("throw a failure before any signal", async () => {
    const { error } = await outcome(
      runBranches([fail(new TurnSignal("superseded")), fail(new Error("broken"))], ignore),
    );
    expect(error).toMatchObject({ message: "broken" });
  });

  test("end when their consumer leaves", async () => {
    const closed: string[] = [];
    const open = async function* (name: string): AsyncGenerator<string, void, void> {
      try {
        for (;;) yield await Promise.resolve(name);
      } finally {
        closed.push(name);
      }
    };
    for await (const item of runBranches([open("a"), open("b")], ignore)) {
      expect(["a", "b"]).toContain(item);
      break;
    }
    expect(closed.toSorted()).toEqual(["a", "b"]);
  });
});
