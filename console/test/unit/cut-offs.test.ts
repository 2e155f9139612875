import type { Message, RunInfo } from "troupe/client";
import { expect, test } from "vitest";
import { CutOffs, withCutOffs } from "../../conversation/cut-offs.ts";
import { type Card, Cards } from "../../conversation/entries.ts";

type Now = Parameters<CutOffs["next"]>[0];

const said = (id: string, source: string): Message => ({
  id,
  type: "TextMessage",
  source,
  content: `${id} by ${source}`,
  models_usage: null,
  metadata: {},
  created_at: "2026-01-01T00:00:00.000Z",
});
const text = (source: string, content: string) => ({ id: `${source} text`, source, content });
const run = (id: string, status: RunInfo["status"]) => ({ id, status }) as RunInfo;
const task = said("task", "user");

function state(more: Partial<Now> & { run: RunInfo }): Now {
  return { status: more.run.status, messages: [task], texts: [], ...more };
}

function after(...states: Now[]): ReturnType<CutOffs["next"]> {
  const cutOffs = new CutOffs();
  return states.map((one) => cutOffs.next(one)).at(-1) ?? [];
}

test("a half answer and the messages of its turn are kept when the next message interrupts the run", () => {
  const begun = said("begun", "a");
  const cuts = after(
    state({ run: run("1", "running"), messages: [task, begun] }),
    state({ run: run("1", "running"), messages: [task, begun], texts: [text("b", "Half of")] }),
    state({ run: run("2", "running"), messages: [task, said("next", "user")] }),
  );
  expect(cuts).toMatchObject([{ run: "1", messages: [begun], words: "Interrupted" }]);
  expect(cuts[0]?.texts).toEqual([text("b", "Half of")]);

  const entries = new Cards([task, said("next", "user")]).entries;
  const shown = withCutOffs(entries, cuts, new Set()) as Card[];
  expect(shown.map(({ source, cut }) => [source, cut])).toEqual([
    ["user", undefined],
    ["a", "Interrupted"],
    ["b", "Interrupted"],
    ["user", undefined],
  ]);
});

test("a half answer stands before the messages that came after the run had ended", () => {
  const cuts = after(
    state({ run: run("1", "running"), texts: [text("a", "Half of")] }),
    state({ run: run("1", "cancelled") }),
  );
  const { entries } = new Cards([task, said("next", "user")]);
  const shown = withCutOffs(entries, cuts, new Set()) as Card[];
  expect(shown.map(({ cut, text: half }) => cut && half?.content)).toEqual([
    undefined,
    "Half of",
    undefined,
  ]);
});

test("a half answer is kept, too, when the agent has begun the next answer at the same moment", () => {
  const cuts = after(
    state({ run: run("1", "running"), texts: [text("a", "Half of")] }),
    state({ run: run("2", "running"), texts: [{ ...text("a", "The next"), id: "next text" }] }),
  );
  expect(cuts).toMatchObject([{ run: "1", texts: [text("a", "Half of")] }]);
});

test("an answer that is written again in the same run, or becomes a message, is not kept", () => {
  const half = state({ run: run("1", "running"), texts: [text("a", "Half of")] });
  const dropped = state({ run: run("1", "running") });
  const again = state({ run: run("1", "running"), texts: [text("a", "An")] });
  const answer = state({ run: run("1", "running"), messages: [task, said("answer", "a")] });
  const done = state({ run: run("1", "completed"), messages: [task, said("answer", "a")] });
  expect(after(half, dropped, again, answer, done)).toEqual([]);
  const failed = { ...answer, run: run("1", "failed") };
  expect(after(half, dropped, again, answer, failed)).toEqual([]);
  expect(after(half, dropped, state({ run: run("1", "failed") }))).toMatchObject([
    { texts: [text("a", "Half of")], words: "Not finished" },
  ]);
});

test("a team that is loaded again forgets what was cut off", () => {
  const cuts = after(
    state({ run: run("1", "running"), texts: [text("a", "Half of")] }),
    state({ run: run("1", "cancelled") }),
    { ...state({ run: run("1", "cancelled") }), status: "connecting" },
  );
  expect(cuts).toEqual([]);
});
