import { describe, expect, test } from "vitest";
import { chunkEvents, createMessage, type JsonObject, type TextMessage } from "troupe";
import type { OpenedStream, StreamFormat } from "#contract/gateways/team-gateway.ts";
import type { Result } from "#contract/result.ts";
import { thought } from "../support/scripted-agent.ts";
import {
  agent,
  counter,
  type Frame,
  outline,
  roundRobin,
  Signal,
  startInput,
  TestTeam,
  value,
} from "../support/team.ts";
import { logged } from "../support/logged.ts";

/** Streams "one two three", holding after each word until the test says so. */
function writer(holds: readonly Signal[], named = true): ReturnType<typeof agent> {
  return agent("writer", async function* (self, ctx) {
    const id = ctx.id();
    const toEvent = chunkEvents(ctx, self.name, id, named ? id : null);
    const text = yield* ctx.stream("model:0", async function* () {
      let whole = "";
      for (const [index, word] of ["one ", "two ", "three"].entries()) {
        whole += word;
        yield toEvent(word);
        await holds[index]?.wait();
      }
      return whole;
    });
    yield createMessage<TextMessage>(ctx, {
      id,
      type: "TextMessage",
      source: self.name,
      content: text,
    });
    return "end";
  });
}

/** Streams letters that arrive together after `begin`, however many promises lie between them, and then waits for more. */
function speller(begin: Signal, hold: Signal): ReturnType<typeof agent> {
  return agent("speller", async function* (self, ctx) {
    const toEvent = chunkEvents(ctx, self.name, ctx.id());
    yield* ctx.stream("model:0", async function* ({ flush }) {
      await begin.wait();
      for (const letter of "abc") {
        for (let step = 0; step < 200; step++) await Promise.resolve();
        yield toEvent(letter);
      }
      flush?.();
      await hold.wait();
    });
    return "end";
  });
}

async function next(frames: AsyncGenerator<Frame, void, void>): Promise<Frame> {
  const result = await frames.next();
  if (result.done) throw new Error("the stream has ended");
  return result.value;
}

/** Frames up to and including the first that `wanted` accepts. */
async function upTo(
  frames: AsyncGenerator<Frame, void, void>,
  wanted: (frame: Frame) => boolean,
): Promise<Frame[]> {
  const found: Frame[] = [];
  for (;;) {
    const frame = await next(frames);
    found.push(frame);
    if (wanted(frame)) return found;
  }
}

async function rest(frames: AsyncGenerator<Frame, void, void>): Promise<Frame[]> {
  const found: Frame[] = [];
  for await (const frame of frames) found.push(frame);
  return found;
}

const isCaughtUp = ({ event }: Frame): boolean => event === "caught_up";

describe("a stream", () => {
  test("shows a run from its first event, live, and closes with it", async () => {
    const go = new Signal();
    const team = await TestTeam.create(roundRobin([counter("a"), writer([go])], 2));
    const { id } = await team.start("go");
    const frames = await team.stream(id);
    const first = await upTo(frames, isCaughtUp);
    go.set();
    const all = [...first, ...(await rest(frames))];
    const ids = all.flatMap((frame) => frame.id ?? []);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
    expect(outline(all.filter((frame) => frame.event === undefined))).toEqual(
      expect.arrayContaining(["go", "a 1", "two ", "three", "one two three", "end", "TaskResult"]),
    );
    expect(all.at(-1)?.data).toEqual({
      type: "TaskResult",
      stop_reason: "Maximum number of turns 2 reached.",
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      message_ids: all
        .slice(0, -1)
        .flatMap(({ id: cursor, data }) =>
          cursor === undefined ? [] : [(data as { id: string }).id],
        ),
    });
    expect(outline(all).at(-2)).toBe("run completed");
  });

  test("that begins with its run misses no piece of text, however fast the model is", async () => {
    const team = await TestTeam.create(roundRobin([writer([])], 2));
    for (const task of ["go", "again"]) {
      const frames = await rest(await team.startStream(task));
      const shown = frames.filter(({ event }) => event === undefined || event === "snapshot");
      const said = ["one ", "two ", "three", "one two three", "end"];
      expect(outline(shown)).toEqual([task, ...said, ...said, "TaskResult"]);
    }
  });

  test("is the same at every cursor, and over after the last", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), counter("b")], 4));
    const { id } = await team.start("go");
    await team.finished(id);
    const all = (await team.frames(id)).filter((frame) => frame.id !== undefined);
    expect(all).toHaveLength(6);
    for (const [index, { id: cursor = 0 }] of all.entries()) {
      if (index === all.length - 1) {
        expect(value(await team.gateway.stream({ run: id, after: cursor }))).toEqual({
          done: true,
        });
      } else {
        const again = (await team.frames(id, cursor)).filter((frame) => frame.id !== undefined);
        expect(again).toEqual(all.slice(index + 1));
      }
    }
  });

  test.each([
    ["that say to which message they belong", true],
    ["that do not", false],
  ])("gives a newcomer the text in progress once, then the pieces, %s", async (_what, named) => {
    const holds = [new Signal(), new Signal(), new Signal()];
    const team = await TestTeam.create(roundRobin([writer(holds, named)], 1));
    const { id } = await team.start("go");
    const early = await team.stream(id);
    await upTo(early, ({ data }) => (data as { content?: string }).content === "one ");

    const late = await team.stream(id);
    const start = await upTo(late, ({ event }) => event === "snapshot");
    expect(outline(start)).toEqual(["run running", "go", "caught_up", "snapshot"]);
    expect(start.at(-1)?.data).toEqual({
      source: "writer",
      content: "one ",
      full_message_id: named ? expect.any(String) : null,
    });
    for (const hold of holds) hold.set();
    const following = await rest(late);
    expect(outline(following)).toEqual([
      "two ",
      "three",
      "one two three",
      "end",
      "run completed",
      "TaskResult",
    ]);
    await rest(early);
  });

  test.each([
    ["of a named message", true],
    ["of one without a name", false],
  ])("reports when the partial text of a failed attempt is void, %s", async (_what, named) => {
    const tried = new Signal();
    const team = await TestTeam.create(
      agent("a", async function* (self, ctx) {
        const id = ctx.id();
        const toEvent = chunkEvents(ctx, self.name, id, named ? id : null);
        return yield* ctx.stream(
          "model:0",
          async function* ({ attempt }) {
            yield toEvent(`attempt ${attempt}`);
            await tried.wait();
            if (attempt === 1)
              throw Object.assign(new Error("lost"), { retryable: true, retryAfterMs: 0 });
            return "said";
          },
          { messageId: id },
        );
      }),
    );
    const { id } = await team.start("go");
    const frames = await team.stream(id);
    const first = await upTo(
      frames,
      ({ event, data }) =>
        event === "snapshot" || (data as { content?: string }).content === "attempt 1",
    );
    tried.set();
    const seen = [...first, ...(await rest(frames))];
    expect(seen.find(({ event }) => event === "discard")?.data).toEqual({
      source: "a",
      full_message_id: named ? expect.any(String) : null,
    });
    const all = outline(seen);
    expect(all.slice(-5)).toEqual(["discard", "attempt 2", "said", "run completed", "TaskResult"]);
  });

  test("that covers the team's life continues over runs", async () => {
    const go = new Signal();
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            yield thought(self.name, ctx, "hm");
            await ctx.step("wait", () => go.wait().then(() => null));
            return "said";
          }),
        ],
        1,
      ),
    );
    const first = await team.start("one");
    const frames = await team.stream(null);
    await upTo(frames, isCaughtUp);
    go.set();
    await team.finished(first.id);
    await team.start("two");
    let results = 0;
    const seen = await upTo(frames, ({ data }) => {
      if ((data as { type?: string }).type === "TaskResult") results++;
      return results === 2;
    });
    expect(outline(seen).filter((item) => item !== "hm")).toEqual([
      "said",
      "run completed",
      "TaskResult",
      "run running",
      "two",
      "said",
      "run completed",
      "TaskResult",
    ]);
    value(await team.gateway.destroy());
    expect(await rest(frames)).toEqual([]);
  });

  test("pieces that arrive together are sent together, before the next one arrives", async () => {
    const [begin, hold] = [new Signal(), new Signal()];
    const team = await TestTeam.create(roundRobin([speller(begin, hold)], 1));
    const { id } = await team.start("go");
    const opened = value(await team.gateway.stream({ run: id, after: 0 }));
    if ("done" in opened) throw new Error("the run is over");
    const reader = opened.body.getReader();
    const read = async (): Promise<string> => {
      const { done, value: bytes } = await reader.read();
      return done ? "" : new TextDecoder().decode(bytes);
    };
    while (!(await read()).includes("caught_up"));
    begin.set();
    const letters = [...(await read()).matchAll(/"content":"(\w)"/g)].map(([, letter]) => letter);
    expect(letters).toEqual(["a", "b", "c"]);
    hold.set();
    await reader.cancel();
  });

  test("a stream in another format ends where the format ends, live and from the log", async () => {
    const hold = new Signal();
    const team = await TestTeam.create(writer([hold]));
    const names = async (stream: Result<OpenedStream>): Promise<string[]> => {
      const opened = value(stream);
      if ("done" in opened) throw new Error("no stream");
      return (await new Response(opened.body).text()).trim().split("\n");
    };
    const format = (options: JsonObject): StreamFormat => ({ name: "names", options });
    const started = value(
      await team.gateway.startStream(startInput("go"), format({ endsAt: "caught_up" })),
    );
    expect((await names({ ok: true, value: started })).at(-1)).toBe("caught_up");
    const { run } = started;
    const broken = await team.gateway.stream({
      run,
      after: 0,
      format: format({ throwsAt: "message" }),
    });
    const late = await team.gateway.stream({
      run,
      after: 0,
      format: format({ endsAt: "snapshot" }),
    });
    hold.set();
    expect((await team.finished(run)).status).toBe("completed");
    expect(await names(broken)).not.toContain("message");
    expect(await names(late)).toContain("snapshot");
    expect(logged).toContainEqual({
      event: "internal_error",
      error: expect.stringContaining("cannot write message"),
    });
  });

  test("is closed for a reader that does not read, and the run is not affected", async () => {
    const big = "x".repeat(100_000);
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            for (let index = 0; index < 20; index++) {
              yield thought(self.name, ctx, big);
              // What comes in one go of the event loop is sent at once, whatever its size.
              await scheduler.wait(0);
            }
            await ctx.step("rest", () => Promise.resolve(null));
            return "said";
          }),
        ],
        2,
      ),
    );
    const life = value(await team.gateway.stream({ run: null, after: 0 }));
    if ("done" in life) throw new Error("no stream");
    const { id } = await team.start("go");
    expect((await team.finished(id)).status).toBe("completed");
    let bytes = 0;
    for await (const piece of life.body) bytes += piece.length;
    expect(bytes).toBeLessThan(1_300_000);

    const all = await team.frames(id);
    expect(all.filter((frame) => frame.id !== undefined)).toHaveLength(44);
  });
});
