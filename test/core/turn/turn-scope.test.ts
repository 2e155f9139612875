import { describe, expect, test } from "vitest";
import { ModelError, RequestError, TurnSignal } from "troupe";
import { errorMessage } from "#core/errors.ts";
import type { Branch, TurnContext } from "troupe";
import { outcome, RecordingHost } from "../support/recording-host.ts";

const ok = (value: string) => () => Promise.resolve(value);

/** A branch that yields nothing. */
function branch<T>(key: string, work: (ctx: TurnContext) => Promise<T>): Branch<never, T> {
  return { key, run: (ctx) => silent(work(ctx)) };
}

// oxlint-disable-next-line require-yield
async function* silent<T>(result: Promise<T>): AsyncGenerator<never, T, void> {
  return result;
}

describe("the key of a step", () => {
  test("is used once in a scope, for a step or for a scope", async () => {
    const ctx = new RecordingHost().attempt();
    await ctx.step("a", ok("1"));
    await expect(ctx.step("a", ok("2"))).rejects.toMatchObject({ code: "duplicate_step" });
    expect(() => ctx.scope("a")).toThrow(expect.objectContaining({ code: "duplicate_step" }));
    await expect(ctx.scope("b").step("a", ok("3"))).resolves.toBe("3");
  });

  test("names the step by its path", async () => {
    const journal = new RecordingHost();
    const ctx = journal.attempt();
    await ctx.scope("tool:0").scope("turn:1").step("model:0", ok("x"));
    expect([...journal.records.keys()]).toEqual(["tool:0/turn:1/model:0"]);
  });
});

describe("a step inside a step", () => {
  test("throws, in the same scope and in one below", async () => {
    const ctx = new RecordingHost().attempt();
    const inner = ctx.scope("inner");
    const nested = { code: "nested_step" };
    await expect(ctx.step("a", () => ctx.step("b", ok("1")))).rejects.toMatchObject(nested);
    await expect(ctx.step("c", () => inner.step("d", ok("1")))).rejects.toMatchObject(nested);
    await expect(ctx.step("e", async () => void ctx.scope("f"))).rejects.toMatchObject(nested);
    await expect(ctx.step("g", ok("fine again"))).resolves.toBe("fine again");
  });

  test("is noticed, too, if two start at once in one scope", async () => {
    const ctx = new RecordingHost().attempt();
    const first = ctx.step("a", ok("1"));
    await expect(ctx.step("b", ok("2"))).rejects.toMatchObject({ code: "nested_step" });
    await expect(first).resolves.toBe("1");
  });
});

describe("a turn that runs again", () => {
  test("T4: gets recorded results without running anything, with the same ids and times", async () => {
    const journal = new RecordingHost();
    let calls = 0;
    const turn = async (ctx: TurnContext): Promise<unknown[]> => {
      const seen: unknown[] = [ctx.id(), ctx.now()];
      const effect = (): Promise<number> => Promise.resolve(++calls);
      seen.push(await ctx.step("one", effect), ctx.now(), ctx.elapsedMs);
      const inner = ctx.scope("inner");
      seen.push(inner.id(), await inner.step("two", effect), inner.now(), ctx.now(), ctx.id());
      const results = await outcome(
        ctx.all(["x", "y"].map((key) => branch(key, (scope) => scope.step("three", effect)))),
      );
      return [...seen, results.result, ctx.now(), ctx.id()];
    };
    const first = await turn(journal.attempt());
    expect(await turn(journal.attempt())).toEqual(first);
    expect(calls).toBe(4);
    expect(new Set(first.filter((value) => /^\w{8}-/.test(String(value)))).size).toBe(4);
  });

  test("gets a stream without pieces the second time", async () => {
    const journal = new RecordingHost();
    const call = (ctx: TurnContext) =>
      outcome(
        ctx.stream("s", async function* () {
          yield* ["a", "b"];
          return Promise.resolve("ab");
        }),
      );
    expect(await call(journal.attempt())).toEqual({ items: ["a", "b"], result: "ab" });
    expect(await call(journal.attempt())).toEqual({ items: [], result: "ab" });
  });

  test("does not run a step of policy never again: its outcome is unknown", async () => {
    const journal = new RecordingHost();
    let calls = 0;
    const effect = (): Promise<string> => Promise.resolve(`call ${++calls}`);
    const lost = journal.attempt({ during: "pay" });
    await expect(lost.step("pay", effect, { policy: "never" })).rejects.toBeInstanceOf(TurnSignal);
    await expect(journal.attempt().step("pay", effect, { policy: "never" })).rejects.toMatchObject({
      code: "outcome_unknown",
    });
    expect(calls).toBe(1);
  });

  test("runs a step of policy retry again under the same key", async () => {
    const journal = new RecordingHost();
    const keys: string[] = [];
    const call = (ctx: TurnContext) =>
      ctx.step("fetch", ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        return Promise.resolve("got");
      });
    await expect(call(journal.attempt({ during: "fetch" }))).rejects.toBeInstanceOf(TurnSignal);
    await expect(call(journal.attempt())).resolves.toBe("got");
    expect(keys).toEqual(["run/1/fetch", "run/1/fetch"]);
  });

  test("lets a human decide about a step of policy ask, once per attempt, and later ids stay the same", async () => {
    const journal = new RecordingHost();
    let calls = 0;
    const turn = async (ctx: TurnContext): Promise<unknown[]> => {
      const effect = (): Promise<number> => Promise.resolve(++calls);
      return [await ctx.step("pay", effect, { policy: "ask" }), ctx.id()];
    };
    const superseded = { kind: "superseded" };
    await expect(turn(journal.attempt({ during: "pay" }))).rejects.toMatchObject(superseded);
    await expect(turn(journal.attempt())).rejects.toMatchObject({ kind: "suspend" });
    journal.answers.set(journal.questions[0]!.id, { approved: true });
    await expect(turn(journal.attempt({ during: "pay" }))).rejects.toMatchObject(superseded);
    await expect(turn(journal.attempt())).rejects.toMatchObject({ kind: "suspend" });
    expect(calls).toBe(2);
    journal.answers.set(journal.questions.at(-1)!.id, { approved: true });
    const done = await turn(journal.attempt());
    expect(done[0]).toBe(3);
    expect(await turn(journal.attempt())).toEqual(done);
    expect(done).toEqual([3, (await turn(new RecordingHost().attempt()))[1]]);
  });

  test("returns from a step the value that is recorded of it", async () => {
    const journal = new RecordingHost();
    const odd = {
      gone: undefined,
      when: new Date(0),
      far: Number.POSITIVE_INFINITY,
      holes: [undefined, -0],
      map: new Map([[1, 2]]),
    };
    const turn = async (ctx: TurnContext): Promise<unknown[]> => [
      await ctx.step("odd", () => Promise.resolve<unknown>(odd)),
      await ctx.step("nothing", () => Promise.resolve()),
    ];
    const expected = [
      { when: "1970-01-01T00:00:00.000Z", far: null, holes: [null, 0], map: {} },
      null,
    ];
    expect(await turn(journal.attempt())).toStrictEqual(expected);
    expect(await turn(journal.attempt())).toStrictEqual(expected);
  });

  test("fails a step whose result JSON cannot represent, now and later", async () => {
    const journal = new RecordingHost();
    const call = (ctx: TurnContext): Promise<unknown> =>
      ctx.step<unknown>("big", () => Promise.resolve({ big: 1n }), { policy: "never" });
    await expect(call(journal.attempt())).rejects.toThrow("BigInt");
    await expect(call(journal.attempt())).rejects.toThrow("BigInt");
  });

  test("cannot ask a question inside a step", async () => {
    const ctx = new RecordingHost().attempt();
    const question = { id: "1", kind: "input", source: "a", prompt: "?" } as const;
    await expect(ctx.step("a", () => ctx.ask(question))).rejects.toMatchObject({
      code: "nested_step",
    });
  });

  test("runs another request under the key afresh", async () => {
    const journal = new RecordingHost();
    await journal.attempt().step("model", ok("old"), { fingerprint: "1" });
    await expect(journal.attempt().step("model", ok("new"), { fingerprint: "2" })).resolves.toBe(
      "new",
    );
  });
});

describe("a failure in a turn", () => {
  test("is retried if its error is retryable, else not", async () => {
    const ctx = new RecordingHost().attempt();
    const attempts: number[] = [];
    await ctx.step("busy", ({ attempt }) => {
      attempts.push(attempt);
      return attempt < 3
        ? Promise.reject(new ModelError("rate_limit", "busy"))
        : Promise.resolve("ok");
    });
    expect(attempts).toEqual([1, 2, 3]);
    let calls = 0;
    const failing = ctx.step("broken", () => Promise.reject(new Error(`call ${++calls}`)));
    await expect(failing).rejects.toThrow("call 1");
  });

  test.each([
    ["retry", {}, 3],
    ["retry", { unsent: true }, 3],
    ["never", { unsent: true }, 3],
    ["ask", { unsent: true }, 3],
    ["never", {}, 1],
    ["ask", {}, 1],
  ] as const)(
    "is retried if the server of a step of the policy %s is away (%j): %d times",
    async (policy, about, attempts) => {
      const journal = new RecordingHost();
      let calls = 0;
      const step = journal.attempt().step(
        "call",
        () => {
          calls++;
          return Promise.reject(new RequestError("gone", "away", { retryable: true, ...about }));
        },
        { policy, retry: () => ({ attempts: 3 }), exhausted: (error) => errorMessage(error) },
      );
      expect(await step).toBe(attempts === 1 ? "away" : "away (3 attempts in 2 seconds)");
      expect(calls).toBe(attempts);
      expect(journal.questions).toEqual([]);
    },
  );

  test("that is recorded is thrown again", async () => {
    const journal = new RecordingHost();
    const fail = (message: string) => (): Promise<never> => Promise.reject(new Error(message));
    const options = { policy: "never" } as const;
    await expect(journal.attempt().step("pay", fail("no money"), options)).rejects.toThrow();
    await expect(journal.attempt().step("pay", fail("other"), options)).rejects.toThrow("no money");
  });

  test("keeps the outcome that agent code gave it when the turn runs again", async () => {
    const journal = new RecordingHost();
    let calls = 0;
    const turn = async (ctx: TurnContext): Promise<string> => {
      try {
        return await ctx.step("model:0", () => {
          calls++;
          if (calls === 1) return Promise.reject(new ModelError("bad_request", "too odd"));
          return Promise.resolve("fine");
        });
      } catch (error) {
        return `failed: ${String(error)}`;
      }
    };
    const first = await turn(journal.attempt());
    expect(first).toContain("too odd");
    expect(await turn(journal.attempt())).toBe(first);
    expect(calls).toBe(1);
  });

  test("that follows a cancellation of the run is a cancel", async () => {
    const journal = new RecordingHost();
    const call = journal.attempt().step("call", () => {
      journal.cancel();
      return Promise.reject(new Error("aborted"));
    });
    await expect(call).rejects.toMatchObject({ kind: "cancel" });
  });
});

describe("parallel branches of a turn", () => {
  test("run at most five effects at once, over all scopes", async () => {
    const ctx = new RecordingHost().attempt();
    let running = 0;
    let most = 0;
    const effect = async (): Promise<null> => {
      most = Math.max(most, ++running);
      for (let tick = 0; tick < 10; tick++) await Promise.resolve();
      running--;
      return null;
    };
    const branches = Array.from({ length: 4 }, (_, outer) => ({
      key: `outer:${outer}`,
      run: (scope: TurnContext) =>
        scope.all(
          Array.from({ length: 4 }, (__, inner) =>
            branch(`inner:${inner}`, (leaf) => leaf.step("leaf", effect)),
          ),
        ),
    }));
    await outcome(ctx.all(branches));
    expect(most).toBe(5);
  });

  test("stop at their next step after a sibling's failure, and branches outside continue", async () => {
    const ctx = new RecordingHost().attempt();
    const seen: string[] = [];
    const group = ctx.all([
      branch("failing", () => Promise.reject(new Error("broken"))),
      branch("busy", async (scope) => {
        for (let index = 0; ; index++) {
          await scope.step(`${index}`, ok("done")).catch((error: unknown) => {
            seen.push((error as TurnSignal).kind);
            throw error;
          });
        }
      }),
    ]);
    expect((await outcome(group)).error).toMatchObject({ message: "broken" });
    expect(seen).toEqual(["halt"]);
    await expect(ctx.step("outside", ok("runs"))).resolves.toBe("runs");
  });

  test("finish when a sibling asks a question, then the turn is suspended until it is answered", async () => {
    const journal = new RecordingHost();
    let calls = 0;
    const turn = (ctx: TurnContext) =>
      outcome(
        ctx.all<never, unknown>([
          branch("human", (scope) =>
            scope.ask({ id: scope.id(), kind: "input", source: "user", prompt: "Well?" }),
          ),
          branch("worker", async (scope) => {
            await scope.step("one", () => Promise.resolve(++calls));
            return scope.step("two", () => Promise.resolve(++calls));
          }),
        ]),
      );
    expect((await turn(journal.attempt())).error).toMatchObject({ kind: "suspend" });
    expect([...journal.records.keys()]).toEqual(["worker/one", "worker/two"]);
    const [question] = journal.questions;
    journal.answers.set(question?.id ?? "", { content: "Yes." });
    expect((await turn(journal.attempt())).result).toEqual([{ content: "Yes." }, 2]);
    expect(calls).toBe(2);
  });

  test("have times of their own, which later steps continue from", async () => {
    const ctx = new RecordingHost().attempt();
    const times = await outcome(
      ctx.all([
        branch("a", async (scope) => {
          await scope.step("long", ok("x"));
          return scope.elapsedMs;
        }),
        branch("b", (scope) => Promise.resolve(scope.elapsedMs)),
      ]),
    );
    expect(times.result?.[1]).toBe(0);
    expect(ctx.elapsedMs).toBe(times.result?.[0]);
  });
});

test("a cache that cannot be written leaves the step's result unchanged", async () => {
  const journal = new RecordingHost();
  journal.cache = {
    get: () => undefined,
    set: () => {
      throw new Error("no room");
    },
  };
  const step = journal.attempt().step("a", async ({ cache }) => {
    cache?.set("key", "value", 1);
    return "result";
  });
  expect(await step).toBe("result");
  expect(journal.records.get("a")?.outcome).toHaveProperty("ok", "result");
});
