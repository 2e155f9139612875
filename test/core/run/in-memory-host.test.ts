import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ModelError } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import type { Answer, Question, TurnContext } from "troupe";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { outcome } from "../support/recording-host.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const question: Question = { id: "q", kind: "input", source: "user", prompt: "Well?" };

describe("the time of a run in memory", () => {
  test("excludes waiting for humans, and counts overlapping questions once", async () => {
    const host = new InMemoryHost({
      answer: async () => {
        await vi.advanceTimersByTimeAsync(60_000);
        return { content: "yes" };
      },
    });
    const ctx = TurnScope.root(host.turn(1));
    const branches = ["a", "b"].map((key) => ({
      key,
      // oxlint-disable-next-line require-yield
      run: async function* (scope: TurnContext): AsyncGenerator<never, Answer, void> {
        return scope.ask({ ...question, id: key });
      },
    }));
    await outcome(ctx.all(branches));
    await ctx.step("work", async () => {
      await vi.advanceTimersByTimeAsync(1000);
      return null;
    });
    expect(ctx.elapsedMs).toBe(1000);
  });
});

describe("retries in memory", () => {
  test("wait twice as long each time, and end after two minutes", async () => {
    const waits: number[] = [];
    let last = Date.now();
    const ctx = TurnScope.root(new InMemoryHost({}).turn(1));
    const call = ctx.step("call", () => {
      waits.push(Date.now() - last);
      last = Date.now();
      return Promise.reject(new ModelError("server", "overloaded"));
    });
    const failed = expect(call).rejects.toThrow("overloaded");
    await vi.runAllTimersAsync();
    await failed;
    expect(waits).toEqual([0, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 56_500]);
  });

  test("end at once when the run is cancelled", async () => {
    const controller = new AbortController();
    const ctx = TurnScope.root(new InMemoryHost({ signal: controller.signal }).turn(1));
    const call = ctx.step("call", () => Promise.reject(new ModelError("server", "overloaded")));
    const cancelled = expect(call).rejects.toMatchObject({ kind: "cancel" });
    await vi.advanceTimersByTimeAsync(100);
    controller.abort();
    await cancelled;
    expect(vi.getTimerCount()).toBe(0);
  });
});
