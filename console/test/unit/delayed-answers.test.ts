import { beforeEach, expect, test, vi } from "vitest";
import { ANSWER_DELAY_MS, DelayedAnswers } from "../../requests/delayed-answers.ts";

const YES = { approved: true };

let answers: DelayedAnswers;
let sent: string[];
const send = (name: string) => async (): Promise<void> => {
  sent.push(name);
};
const phase = (key: string): string | undefined => answers.read().get(key)?.phase;

beforeEach(() => {
  vi.useFakeTimers();
  answers = new DelayedAnswers();
  sent = [];
  return () => vi.useRealTimers();
});

test("an answer leaves after the delay, and can no longer be undone", async () => {
  let accept = (): void => undefined;
  const accepted = new Promise<void>((resolve) => (accept = resolve));
  answers.give("a", YES, () => accepted);
  await vi.advanceTimersByTimeAsync(ANSWER_DELAY_MS - 1);
  expect(phase("a")).toBe("delayed");
  await vi.advanceTimersByTimeAsync(1);
  expect(phase("a")).toBe("sending");
  answers.undo("a");
  expect(phase("a")).toBe("sending");
  accept();
  await vi.advanceTimersByTimeAsync(0);
  expect(phase("a")).toBe("sent");
  answers.undo("a");
  expect(phase("a")).toBe("sent");
});

test("an answer that was undone is never sent, and another one can be given", async () => {
  answers.give("a", YES, send("first"));
  answers.undo("a");
  expect(phase("a")).toBeUndefined();
  await vi.advanceTimersByTimeAsync(ANSWER_DELAY_MS);
  expect(sent).toEqual([]);
  answers.give("a", YES, send("second"));
  answers.give("a", { approved: false }, send("third"));
  await vi.advanceTimersByTimeAsync(ANSWER_DELAY_MS);
  expect(sent).toEqual(["second"]);
});

test("leaving the page sends each answer at once, and once", async () => {
  answers.give("a", YES, send("a"));
  answers.give("b", YES, send("b"));
  answers.sendAll();
  expect(sent).toEqual(["a", "b"]);
  answers.sendAll();
  await vi.advanceTimersByTimeAsync(2 * ANSWER_DELAY_MS);
  expect(sent).toEqual(["a", "b"]);
  expect([phase("a"), phase("b")]).toEqual(["sent", "sent"]);
});

test("an answer that the server refused can be given again", async () => {
  const refused = new Error("It was answered already.");
  answers.give("a", YES, () => Promise.reject(refused));
  await vi.advanceTimersByTimeAsync(ANSWER_DELAY_MS);
  expect(answers.read().get("a")).toEqual({ phase: "failed", error: refused });
  answers.give("a", YES, send("a"));
  await vi.advanceTimersByTimeAsync(ANSWER_DELAY_MS);
  expect(sent).toEqual(["a"]);
});
