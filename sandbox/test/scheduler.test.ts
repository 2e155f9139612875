import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Job, type Place, Scheduler } from "../sessions/scheduler.ts";

const SHORT_MS = 1000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function scheduler(concurrency: number, reserved: number): Scheduler {
  return new Scheduler({ concurrency, reserved, shortMs: SHORT_MS });
}

/** A job that enters at once, and the place it has. */
class TestJob implements Job {
  readonly session: string;
  readonly limitMs: number;
  readonly repeatable: boolean;
  readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  place: Place | undefined;
  waited = false;

  constructor(session: string, { limitMs = 60_000, repeatable = true } = {}) {
    this.session = session;
    this.limitMs = limitMs;
    this.repeatable = repeatable;
  }

  onWait(): void {
    this.waited = true;
  }

  async enter(places: Scheduler): Promise<this> {
    void places.enter(this).then((place) => {
      this.place = place;
      place?.begin();
      return undefined;
    });
    await vi.advanceTimersByTimeAsync(0);
    return this;
  }

  /** Stops when it is interrupted, and enters again, as an execution does. */
  async obey(places: Scheduler): Promise<void> {
    expect(this.place?.interrupted.aborted).toBe(true);
    const { place } = this;
    this.place = undefined;
    place?.leave();
    await this.enter(places);
  }

  async leave(): Promise<void> {
    this.place?.leave();
    this.place = undefined;
    await vi.advanceTimersByTimeAsync(0);
  }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("an ordinary place", () => {
  test("is assigned in the order of arrival", async () => {
    const places = scheduler(1, 0);
    const jobs = [];
    for (const name of ["a", "b", "c"]) jobs.push(await new TestJob(name).enter(places));
    const [a, b, c] = jobs as [TestJob, TestJob, TestJob];
    expect([a.waited, b.waited, c.waited]).toEqual([false, true, true]);
    expect([a.place, b.place].map((place) => place !== undefined)).toEqual([true, false]);
    await a.leave();
    expect([b.place, c.place].map((place) => place !== undefined)).toEqual([true, false]);
  });

  test("is not taken by a job that is cancelled while it waits", async () => {
    const places = scheduler(1, 0);
    const a = await new TestJob("a").enter(places);
    const b = await new TestJob("b").enter(places);
    const c = await new TestJob("c").enter(places);
    b.controller.abort();
    await a.leave();
    expect(b.place).toBeUndefined();
    expect(c.place).toBeDefined();
  });
});

describe("a reserved place", () => {
  test("lets a new session run beside long code, however many sessions run such code", async () => {
    const places = scheduler(2, 1);
    const busy = [];
    for (const name of ["a", "b", "c", "d"]) busy.push(await new TestJob(name).enter(places));
    const [, , c, d] = busy as [TestJob, TestJob, TestJob, TestJob];
    expect([c.place, d.place].map((place) => place !== undefined)).toEqual([true, false]);
    const bystander = await new TestJob("bystander").enter(places);
    await pass(SHORT_MS);
    await c.obey(places);
    expect(d.place).toBeDefined();
    await pass(SHORT_MS);
    await d.obey(places);
    expect(bystander.place).toBeDefined();
    expect([c.place, d.place]).toEqual([undefined, undefined]);
  });

  test("is not for a session that has just run long code", async () => {
    const places = scheduler(1, 1);
    const long = await new TestJob("long").enter(places);
    await pass(5 * SHORT_MS);
    await long.leave();
    await new TestJob("other").enter(places);
    const again = await new TestJob("long").enter(places);
    expect(again.place).toBeUndefined();
    expect((await new TestJob("new").enter(places)).place).toBeDefined();
  });

  test("is for that session again after some minutes", async () => {
    const places = scheduler(1, 1);
    const long = await new TestJob("long").enter(places);
    await pass(5 * SHORT_MS);
    await long.leave();
    await new TestJob("other").enter(places);
    await pass(300_000);
    expect((await new TestJob("long").enter(places)).place).toBeDefined();
  });

  test("is assigned to the job with the shortest time limit first, like an inspection's", async () => {
    const places = scheduler(1, 1);
    await new TestJob("a").enter(places);
    const b = await new TestJob("b").enter(places);
    const waiting = await new TestJob("c").enter(places);
    const inspection = await new TestJob("inspection", { limitMs: 10_000 }).enter(places);
    await pass(SHORT_MS);
    await b.obey(places);
    expect(inspection.place).toBeDefined();
    expect(waiting.place).toBeUndefined();
  });

  test("is left for an ordinary one when it is the job's turn", async () => {
    const places = scheduler(1, 1);
    const first = await new TestJob("first").enter(places);
    const second = await new TestJob("second").enter(places);
    await first.leave();
    await pass(5 * SHORT_MS);
    expect((await new TestJob("third").enter(places)).place).toBeDefined();
    expect(second.place?.interrupted.aborted).toBe(false);
  });

  test("is kept while no other session waits for one", async () => {
    const places = scheduler(1, 1);
    await new TestJob("a").enter(places);
    const b = await new TestJob("b").enter(places);
    await pass(60 * SHORT_MS);
    expect(b.place?.interrupted.aborted).toBe(false);
    await new TestJob("c").enter(places);
    expect(b.place?.interrupted.aborted).toBe(true);
  });

  test.each([
    ["cannot be run again", { repeatable: false }],
    ["has a low time limit", { limitMs: 10_000 }],
  ])("is kept by code that %s", async (_, options) => {
    const places = scheduler(1, 1);
    await new TestJob("a").enter(places);
    const b = await new TestJob("b", options).enter(places);
    await new TestJob("c").enter(places);
    await pass(10 * SHORT_MS);
    expect(b.place?.interrupted.aborted).toBe(false);
  });

  test("is kept while an interpreter starts", async () => {
    const places = scheduler(1, 1);
    await new TestJob("a").enter(places);
    const { signal } = new AbortController();
    const b = { session: "b", limitMs: 60_000, repeatable: true, signal, onWait: () => undefined };
    const place = await places.enter(b);
    await new TestJob("c").enter(places);
    await pass(10 * SHORT_MS);
    place?.begin();
    await pass(SHORT_MS - 1);
    expect(place?.interrupted.aborted).toBe(false);
    await pass(1);
    expect(place?.interrupted.aborted).toBe(true);
  });

  test("gives an interrupted job the next ordinary place, which it keeps", async () => {
    const places = scheduler(1, 1);
    const a = await new TestJob("a").enter(places);
    const b = await new TestJob("b").enter(places);
    const c = await new TestJob("c").enter(places);
    await pass(SHORT_MS);
    await b.obey(places);
    expect(c.place).toBeDefined();
    await a.leave();
    expect(b.place).toBeDefined();
    await new TestJob("d").enter(places);
    await pass(10 * SHORT_MS);
    expect(b.place?.interrupted.aborted).toBe(false);
    expect(c.place?.interrupted.aborted).toBe(true);
  });
});
