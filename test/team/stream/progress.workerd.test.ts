import { describe, expect, test } from "vitest";
import { chunkEvents, createMessage, ModelError, type TextMessage } from "troupe";
import type { ActivityFrame, TurnFrame } from "#contract/stream/stream-frame.ts";
import { thought } from "../support/scripted-agent.ts";
import {
  agent,
  counter,
  type Frame,
  roundRobin,
  Signal,
  TestTeam,
  value,
} from "../support/team.ts";

/** The next frame with this name that fulfils a condition. */
async function next<Data>(
  stream: AsyncGenerator<Frame, void, void>,
  event: string,
  isWanted: (data: Data) => boolean = () => true,
): Promise<Data> {
  for (;;) {
    const { done, value: frame } = await stream.next();
    if (done) throw new Error(`the stream ended without a frame ${event}`);
    if (frame.event === event && isWanted(frame.data as Data)) return frame.data as Data;
  }
}

const steps = (count: number) => (frame: ActivityFrame) => frame.steps.length === count;

describe("the frame activity", () => {
  /** A team whose model fails when `fail` is set, and the second time answers when `go` is set. */
  async function failingOnce(retryAfterMs: number) {
    const [fail, go] = [new Signal(), new Signal()];
    let calls = 0;
    const writer = agent("writer", async function* (_self, ctx) {
      yield* [];
      return ctx.step(
        "model:0",
        async () => {
          if (++calls === 1) {
            await fail.wait();
            throw new ModelError("rate_limit", "slow down", { retryAfterMs });
          }
          await go.wait();
          return "said";
        },
        { kind: "model", subject: { name: "gpt-4o" } },
      );
    });
    return { team: await TestTeam.create(roundRobin([writer], 1)), fail, go };
  }

  test("shows the steps in progress, also to a client that connects in the middle, and the next attempt", async () => {
    const { team, fail, go } = await failingOnce(1);
    const stream = await team.startStream("go");
    const first = await next<ActivityFrame>(stream, "activity", steps(1));
    const step = { agent: "writer", kind: "chat", name: "gpt-4o", call_id: null };
    expect(first.steps).toEqual([
      {
        ...step,
        step: expect.stringContaining("model:0") as string,
        attempt: 1,
        started_at: expect.any(String) as string,
        error: null,
        next_attempt_at: null,
        message_id: null,
      },
    ]);
    const late = await team.stream(null);
    expect((await next<ActivityFrame>(late, "activity")).steps).toEqual(first.steps);
    await late.return();

    fail.set();
    const again = await next<ActivityFrame>(
      stream,
      "activity",
      (frame) => frame.steps[0]?.attempt === 2,
    );
    expect(again.steps[0]).toMatchObject({
      next_attempt_at: null,
      started_at: first.steps[0]?.started_at,
    });
    go.set();
    await next(stream, "run", ({ status }: { status: string }) => status === "completed");
  });

  test("gives the reason and time of a retry", async () => {
    const { team, fail } = await failingOnce(25_000);
    const stream = await team.startStream("go");
    await next<ActivityFrame>(stream, "activity", steps(1));
    fail.set();
    const waits = await next<ActivityFrame>(
      stream,
      "activity",
      (frame) => frame.steps[0]?.next_attempt_at !== null,
    );
    expect(waits.steps[0]).toMatchObject({
      attempt: 1,
      error: { type: "model_rate_limit", message: "slow down" },
    });
    value(await team.gateway.stopRun(waits.run_id, "now"));
    await next(stream, "run", ({ status }: { status: string }) => status === "cancelled");
  });

  test("ends when no step is in progress any more, before the turn has ended", async () => {
    const [go, end] = [new Signal(), new Signal()];
    const writer = agent("writer", async function* (_self, ctx) {
      yield* [];
      await ctx.step("wait", () => go.wait().then(() => null));
      await end.wait();
      return "said";
    });
    const team = await TestTeam.create(roundRobin([writer], 1));
    const stream = await team.startStream("go");
    await next<ActivityFrame>(stream, "activity", steps(1));
    go.set();
    await next<ActivityFrame>(stream, "activity", steps(0));
    end.set();
    await next(stream, "turn");
    await stream.return();
  });
});

describe("a turn", () => {
  test("is shown when it is finished, with its messages and the usage of the run, and the list has the same", async () => {
    const team = await TestTeam.create(roundRobin([counter("one"), counter("two")], 2));
    const frames: Frame[] = [];
    for await (const frame of await team.startStream("go")) frames.push(frame);
    const shown = frames
      .filter(({ event }) => event === "turn")
      .map(({ data }) => data as TurnFrame);
    expect(shown.map(({ run }) => run.turns)).toEqual([0, 1, 2]);
    expect(shown.map(({ agents }) => agents.map(({ agent: name }) => name))).toEqual([
      [],
      ["one"],
      ["two"],
    ]);
    const page = value(await team.gateway.turns({ limit: 50 }));
    expect(page).toEqual({
      turns: shown.map(({ run, ...turn }) => {
        expect(run.id).toBe(turn.run_id);
        return turn;
      }),
      next_after: null,
      next_before: null,
    });
    const { messages } = value(await team.gateway.messages({ limit: 50 }));
    expect(page.turns.flatMap(({ message_ids }) => message_ids)).toEqual(
      messages.map(({ id }) => id),
    );
  });

  test("pages forwards and backwards, over runs and resets", async () => {
    const team = await TestTeam.create(roundRobin([counter("one")], 1));
    const first = await team.start("go");
    await team.finished(first.id);
    value(await team.gateway.reset());
    const second = await team.start("again");
    await team.finished(second.id);
    const pages = async (query: { after?: number; before?: number }): Promise<unknown> => {
      const page = value(await team.gateway.turns({ ...query, limit: 2 }));
      return [page.turns.map(({ turn }) => turn), page.next_before, page.next_after];
    };
    expect(await pages({})).toEqual([[1, 2], null, 2]);
    expect(await pages({ after: 2 })).toEqual([[3, 4], 3, 4]);
    expect(await pages({ after: 4 })).toEqual([[5], 5, null]);
    expect(await pages({ before: 5 })).toEqual([[3, 4], 3, 4]);
    expect(await pages({ before: 3 })).toEqual([[1, 2], null, 2]);
    expect(await pages({ after: 5 })).toEqual([[], null, null]);
    const { turns } = value(await team.gateway.turns({ limit: 50 }));
    expect(turns.map(({ run_id }) => run_id)).toEqual([
      first.id,
      first.id,
      null,
      second.id,
      second.id,
    ]);
    expect(turns.map(({ message_ids }) => message_ids.length)).toEqual([1, 1, 0, 1, 1]);
  });

  test("contains the time for which a model streamed its reasoning", async () => {
    const hold = new Signal();
    const thinker = agent("thinker", async function* (self, ctx) {
      const id = ctx.id();
      const toEvent = chunkEvents(ctx, self.name, id, id);
      const options = { kind: "model", messageId: id, input: () => [] } as const;
      yield* ctx.stream(
        "model:0",
        async function* () {
          yield toEvent("<think>hm");
          await hold.wait();
          yield toEvent("</thi");
          yield toEvent("nk>yes");
          return "yes";
        },
        options,
      );
      yield thought(self.name, ctx, "hm");
      yield createMessage<TextMessage>(ctx, {
        id,
        type: "TextMessage",
        source: self.name,
        content: "yes",
      });
      return "end";
    });
    const team = await TestTeam.create(roundRobin([thinker], 1));
    const stream = await team.startStream("go");
    for await (const { data } of stream) {
      if ((data as { content?: string }).content === "<think>hm") break;
    }
    hold.set();
    await team.finished(value(await team.gateway.runs({ limit: 1 })).runs[0]?.id ?? "");
    const { turns } = value(await team.gateway.turns({ limit: 50 }));
    expect(turns.at(-1)?.agents[0]?.thought_ms).toBeGreaterThanOrEqual(0);
  });
});

describe("a request to pause a run", () => {
  test("is shown at once, while a step is in progress, and also its withdrawal", async () => {
    const [begun, go] = [new Signal(), new Signal()];
    const writer = agent("writer", async function* (_self, ctx) {
      yield* [];
      await ctx.step("wait", () => {
        begun.set();
        return go.wait().then(() => null);
      });
      return "said";
    });
    const team = await TestTeam.create(roundRobin([writer], 1));
    const stream = await team.startStream("go");
    await begun.wait();
    const { id } = value(await team.gateway.runs({ limit: 1 })).runs[0] ?? { id: "" };
    const asked = value(await team.gateway.pauseRun(id));
    expect(asked).toMatchObject({ status: "running", pause_requested: true });
    const pausing = (run: { pause_requested: boolean }): boolean => run.pause_requested;
    await next(stream, "run", pausing);
    value(await team.gateway.resumeRun(id));
    await next(stream, "run", (run: { pause_requested: boolean }) => !pausing(run));
    value(await team.gateway.stopRun(id, "after_turn"));
    await next(
      stream,
      "run",
      ({ stop_requested }: { stop_requested: string | null }) => stop_requested === "after_turn",
    );
    go.set();
    await next(stream, "run", ({ status }: { status: string }) => status === "completed");
  });
});
