import { expect, test } from "vitest";
import type { ToolAnswer } from "../../app/tool-answer.ts";
import { type RunState, ShownRun } from "../../app/shown-run.ts";

// The reading of a run over a host that answers each read with what a test gives.

const PLACE = { team_id: "desk", run_id: "run-1" };
const OTHER = { team_id: "desk", run_id: "run-2" };
const TASK = [{ id: "m1", type: "TextMessage", source: "user", content: "Write." }];

interface Part {
  frames?: { event?: string; data: object }[];
  cursor?: number;
  more?: boolean;
}

function run(more: object): { event: string; data: object } {
  return { event: "run", data: { id: "run-1", status: "running", ended_at: null, ...more } };
}

function answer(fields: object): ToolAnswer {
  return { content: [], structuredContent: fields } as unknown as ToolAnswer;
}

/** A page of which each read of the run gets the next part; reads behind the last one wait forever. */
class Page {
  readonly reads: Record<string, unknown>[] = [];
  readonly shown: ShownRun;

  constructor(parts: Part[], searched?: object) {
    this.shown = new ShownRun({
      callTool: async (_, given) => {
        this.reads.push({ ...given });
        if ("call" in given) return answer(searched ?? {});
        const part = parts.shift();
        if (part === undefined) return new Promise<never>(() => undefined);
        const { frames = [], cursor = 0, more = false } = part;
        return answer({ frames, cursor, more, seen: "", may_answer: false, may_stop: false });
      },
    });
  }

  /** The state, once it is wanted. */
  until(isWanted: (state: RunState) => boolean): Promise<RunState> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (isWanted(this.shown.read())) resolve(this.shown.read());
      };
      this.shown.subscribe(look);
      look();
    });
  }
}

test("the task that the first part has stays, and a part with another one changes it", async () => {
  const changed = [{ ...TASK[0], content: "Write more." }];
  const page = new Page([
    { frames: [run({ status: "queued", task: TASK })] },
    { frames: [run({ task: null })] },
    { frames: [run({ status: "waiting", task: changed })] },
  ]);
  page.shown.called(PLACE);
  const running = await page.until((state) => state.run?.status === "running");
  expect(running.run?.task).toEqual(TASK);
  const waiting = await page.until((state) => state.run?.status === "waiting");
  expect(waiting.run?.task).toEqual(changed);
});

test("a run that has ended is read until there is nothing else", async () => {
  const over = run({ status: "completed", ended_at: "2026-01-01T00:00:00Z", task: null });
  const message = { id: "m2", type: "TextMessage", source: "a", content: "Done." };
  const page = new Page([
    // A connection broke off before the message.
    { frames: [over], more: true },
    { frames: [over, { data: message }], cursor: 2, more: true },
    { frames: [over], cursor: 2 },
  ]);
  page.shown.called(PLACE);
  const { messages } = await page.until(({ messages: all }) => all.length > 0);
  expect(messages).toMatchObject([message]);
  await expect.poll(() => page.reads.map((read) => read["after"])).toEqual([undefined, 0, 2]);
});

test("a run that was searched is left when the result of the call names another one, or none", async () => {
  const call = { call: { task: "Write." } };
  const first = new Page([{ frames: [run({ task: TASK })] }], OTHER);
  first.shown.called(call);
  await first.until((state) => state.run !== undefined);
  first.shown.finished({ ...answer({}), content: [{ type: "text", text: "The team is busy." }] });
  expect(first.shown.read()).toMatchObject({ run: undefined, refused: "The team is busy." });

  const second = new Page([{ frames: [run({ task: TASK })] }], OTHER);
  second.shown.called(call);
  await second.until((state) => state.run !== undefined);
  second.shown.finished(answer(PLACE));
  await expect.poll(() => second.reads.at(-1)).toMatchObject(PLACE);
});

test("a run that the call's own result named stays", async () => {
  const page = new Page([{ frames: [run({ task: TASK })] }]);
  page.shown.finished(answer(PLACE));
  await page.until((state) => state.run !== undefined);
  page.shown.finished(answer({}));
  expect(page.shown.read()).toMatchObject({ run: { id: "run-1" }, refused: undefined });
});
