import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { DurableObjectGateway } from "#team/object/durable-object-gateway.ts";
import { Batch, CONTINUE_CODE } from "#team/stream/batch.ts";
import { watch } from "#team/stream/watch-relay.ts";
import { lastObject } from "../support/last-object.ts";
import { human } from "../support/components.ts";
import {
  agent,
  counter,
  type Frame,
  outline,
  readFrames,
  roundRobin,
  Signal,
  startInput,
  TestTeam,
  value,
} from "../support/team.ts";

/** Reads the frames of one run of the team. */
async function framesOfRun(frames: AsyncGenerator<Frame, void, void>): Promise<Frame[]> {
  const read: Frame[] = [];
  for (;;) {
    const next = await frames.next();
    if (next.done) return read;
    read.push(next.value);
    const { event, data } = next.value as { event?: string; data?: { status?: string } };
    if (event === "run" && data?.status === "completed") return read;
  }
}

/** The ids of recorded events. */
function ids(frames: readonly Frame[]): number[] {
  return frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
}

test("the object is unloaded while watchers are connected, and all get the next events once", async () => {
  const team = await TestTeam.create(counter("a"));
  const watchers = await Promise.all(Array.from({ length: 30 }, () => team.stream(null)));
  const seen: number[][] = watchers.map(() => []);
  for (let round = 0; round < 3; round++) {
    const loaded = lastObject.state;
    await team.evict();
    await team.start("go");
    expect(lastObject.state).not.toBe(loaded);
    const read = await Promise.all(watchers.map(framesOfRun));
    for (const [index, frames] of read.entries()) seen[index]?.push(...ids(frames));
  }
  const recorded = seen[0] ?? [];
  expect(recorded.length).toBeGreaterThan(6);
  expect(recorded).toEqual([...new Set(recorded)].toSorted((a, b) => a - b));
  for (const one of seen) expect(one).toEqual(recorded);
});

test.each(["opened by itself", "that a start answers with"])(
  "a run's stream %s continues over its questions, while the object is unloaded",
  async (how) => {
    const team = await TestTeam.create(roundRobin([human()], 2));
    const frames =
      how === "opened by itself"
        ? await team.stream((await team.start("go")).id)
        : await team.startStream("go");
    const seen: Frame[] = [];
    const until = async (done: () => boolean): Promise<void> => {
      while (!done()) {
        const next = await frames.next();
        if (next.done) throw new Error(`the stream ended after ${JSON.stringify(outline(seen))}`);
        seen.push(next.value);
      }
    };
    for (const content of ["one", "two"]) {
      const before = seen.length;
      await until(() => outline(seen.slice(before)).includes("run waiting"));
      // One that its start answered with shows the run again when it continues over a socket.
      if (how !== "opened by itself" && content === "one") {
        await until(() => outline(seen).filter((one) => one === "caught_up").length === 2);
      }
      const loaded = lastObject.state;
      await team.evict();
      const { active_run } = value(await team.gateway.team());
      expect(lastObject.state).not.toBe(loaded);
      const run = await team.run(active_run ?? "");
      value(await team.gateway.answer(run.id, run.requests[0]?.id ?? "", { content }));
    }
    await until(() => outline(seen).at(-1) === "TaskResult");
    expect(await frames.next()).toMatchObject({ done: true });
    expect(ids(seen)).toEqual([...new Set(ids(seen))].toSorted((a, b) => a - b));
    expect(outline(seen)).toEqual(expect.arrayContaining(["one", "two"]));
  },
);

test("the stream of a paused run in another format continues, while the object is unloaded, as often as it is paused", async () => {
  const [begun, held] = [0, 1].map(() => [0, 1, 2].map(() => new Signal())) as [Signal[], Signal[]];
  let turns = 0;
  const speaker = agent("a", async function* (_self, ctx) {
    yield* [];
    const turn = turns++;
    await ctx.step("work", async () => {
      begun[turn]?.set();
      await held[turn]?.wait();
      return null;
    });
    return `said ${turn}`;
  });
  const team = await TestTeam.create(roundRobin([speaker], 3));
  const format = { name: "names", options: { ids: true } };
  const started = value(await team.gateway.startStream(startInput("go"), format));
  if ("done" in started) throw new Error("the run is over");
  const text = new Response(started.body).text();
  const { run } = started;
  const sockets = (): Promise<number> =>
    runInDurableObject(team.stub, (_instance, state) => state.getWebSockets().length);
  for (const turn of [0, 1]) {
    await begun[turn]?.wait();
    // The object sends the stream.
    await expect.poll(sockets).toBe(0);
    value(await team.gateway.pauseRun(run));
    held[turn]?.set();
    // The object has ended the stream, and the Worker waits for its run over a socket.
    await expect.poll(sockets).toBe(1);
    expect(await team.run(run)).toMatchObject({ status: "paused" });
    const loaded = lastObject.state;
    await team.evict();
    value(await team.gateway.resumeRun(run));
    expect(lastObject.state).not.toBe(loaded);
  }
  await expect.poll(sockets).toBe(0);
  held[2]?.set();
  await team.finished(run);
  const lines = (await text).split("\n").filter((line) => line !== "" && !line.startsWith(":"));
  const statuses = lines.flatMap((line) => /^run (\w+)$/.exec(line)?.[1] ?? []);
  expect(statuses.filter((status, index) => status !== statuses[index - 1])).toEqual([
    "running",
    "paused",
    "running",
    "paused",
    "running",
    "completed",
  ]);
  const seen = lines.flatMap((line) => /^message (\d+)$/.exec(line)?.[1] ?? []).map(Number);
  expect(seen).toEqual([...new Set(seen)].toSorted((one, other) => one - other));
  expect(seen).toHaveLength(5);
});

test("the stream of a run in another format ends with it when it is cancelled while it is paused", async () => {
  const [begun, held] = [new Signal(), new Signal()];
  const speaker = agent("a", async function* (_self, ctx) {
    yield* [];
    await ctx.step("work", async () => {
      begun.set();
      await held.wait();
      return null;
    });
    return "said";
  });
  const team = await TestTeam.create(roundRobin([speaker], 2));
  const format = { name: "names", options: { ids: true } };
  const started = value(await team.gateway.startStream(startInput("go"), format));
  if ("done" in started) throw new Error("the run is over");
  const text = new Response(started.body).text();
  await begun.wait();
  value(await team.gateway.pauseRun(started.run));
  held.set();
  await expect
    .poll(() => runInDurableObject(team.stub, (_instance, state) => state.getWebSockets().length))
    .toBe(1);
  await team.evict();
  value(await team.gateway.stopRun(started.run, "now"));
  expect((await text).trim().split("\n").at(-1)).toMatch(/^run \d+$/);
});

test("the stream of a queued run in another format continues, while the object is unloaded", async () => {
  const team = await TestTeam.create(roundRobin([human()], 1));
  const first = await team.rested((await team.start("go")).id);
  const format = { name: "names", options: {} };
  const input = startInput("then this", { on_conflict: "queue" });
  const sockets = (): Promise<number> =>
    runInDurableObject(team.stub, (_instance, state) => state.getWebSockets().length);
  const texts: Promise<string>[] = [];
  const started = value(await team.gateway.startStream(input, format));
  for (const open of [
    () => Promise.resolve(started),
    async () => value(await team.gateway.stream({ run: started.run, after: 0, format })),
  ]) {
    const stream = await open();
    if ("done" in stream) throw new Error("the run is over");
    texts.push(new Response(stream.body).text());
    // The object has ended the stream, and the Worker waits for its run over a socket.
    await expect.poll(sockets).toBe(texts.length);
  }
  const loaded = lastObject.state;
  await team.evict();
  value(await team.gateway.answer(first.id, first.requests[0]?.id ?? "", { content: "one" }));
  expect(lastObject.state).not.toBe(loaded);
  for (const text of await Promise.all(texts)) {
    const names = text.split("\n").filter((name) => name !== "" && !name.startsWith(":"));
    // Its beginning comes once.
    expect(names.slice(0, 3)).toEqual(["run", "caught_up", "run"]);
    expect(names).toContain("message");
  }
});

test("a turn that an unloaded object repeats is seen once, between any two of its events", async () => {
  const team = await TestTeam.create(roundRobin([counter("a"), counter("b")], 6));
  const frames = await team.stream(null);
  const run = await team.start("go");
  const seen: number[] = [];
  for await (const { id, event } of frames) {
    if (id === undefined) continue;
    seen.push(id);
    if (event === "result" || (await team.run(run.id)).ended_at !== null) break;
    await team.crash();
  }
  expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
});

test("a watcher that does not read is disconnected, and the others continue", async () => {
  const team = await TestTeam.create(counter("a"));
  const slow = value(await team.gateway.stream({ run: null, after: 0 }));
  const other = await team.stream(null);
  const large = "x".repeat(300_000);
  let last: number[] = [];
  for (let round = 0; round < 5; round++) {
    await team.start(large);
    last = ids(await framesOfRun(other));
  }
  if ("done" in slow) throw new Error("the stream is over");
  const read: number[] = [];
  for await (const { id } of readFrames(slow.body)) if (id !== undefined) read.push(id);
  expect(read.length).toBeGreaterThan(0);
  expect(read.at(-1)).toBeLessThan(last[0] ?? 0);
  const missed: number[] = [];
  for await (const { id } of await team.stream(null, read.at(-1))) {
    if (id !== undefined) missed.push(id);
    if (id === last.at(-1)) break;
  }
  expect(missed[0]).toBe((read.at(-1) ?? 0) + 1);
});

test("the streams of a deleted team end, also when it was unloaded", async () => {
  const team = await TestTeam.create(counter("a"));
  const frames = await team.stream(null);
  await frames.next();
  await team.evict();
  value(await team.gateway.destroy());
  for await (const _frame of frames);
});

test("a stream that has used the CPU time of its request ends after a whole frame, whose cursor brings the rest", async () => {
  const team = await TestTeam.create(roundRobin([counter("a"), counter("b")], 4));
  const frames = await team.stream(null);
  const run = await team.start("go");
  await team.finished(run.id);
  const recorded = ids(await framesOfRun(frames));
  const seen: number[] = [];
  // Enough for the first of three messages.
  const gateway = new DurableObjectGateway(env.ENGINE, 0.05, 0).team(team.tenant, team.id);
  const short = value(await gateway.stream({ run: null, after: 0 }));
  if ("done" in short) throw new Error("the stream is over");
  await team.start("again");
  for await (const { id } of readFrames(short.body)) if (id !== undefined) seen.push(id);
  // The last frame is the result of the run.
  expect(seen).toEqual([...recorded, (recorded.at(-1) ?? 0) + 1]);
  let next: number | undefined;
  for await (const { id } of await team.stream(null, seen.at(-1))) {
    next = id;
    if (id !== undefined) break;
  }
  expect(next).toBe((seen.at(-1) ?? 0) + 1);
});

test("an object that ends with every watcher is not started again without end", async () => {
  let opened = 0;
  const open = async (): Promise<Response> => {
    opened++;
    const { 0: end, 1: socket } = new WebSocketPair();
    socket.accept();
    socket.send(new Batch(": again\n\n", 7).message);
    socket.close(CONTINUE_CODE);
    return new Response(null, { status: 101, webSocket: end });
  };
  const given = { open, after: 7, signal: undefined, cpuMs: 30_000, pausesMs: [0, 1, 1, 1] };
  const stream = await watch(given);
  expect(await new Response(stream as ReadableStream<Uint8Array>).text()).toBe(
    ": again\n\n".repeat(5),
  );
  expect(opened).toBe(5);
});
