import { describe, expect, test } from "vitest";
import type { AnswersInput } from "#contract/gateways/team-gateway.ts";
import type { RunInfo } from "#contract/run.ts";
import {
  agent,
  type Frame,
  outline,
  readFrames,
  roundRobin,
  TestTeam,
  texts,
  value,
} from "../support/team.ts";

/** Asks two questions at once and says both answers. */
const asker = agent("a", async function* (_self, ctx) {
  yield* [];
  const asked = ["one", "two"].map((prompt) =>
    ctx.ask({ id: ctx.id(), kind: "input", source: "a", prompt }),
  );
  const answers = await Promise.all(asked);
  return answers
    .map((answer) =>
      "content" in answer && typeof answer.content === "string" ? answer.content : "",
    )
    .join("+");
});

/** A run that waits for the answers to two questions. */
async function waiting(): Promise<{ team: TestTeam; run: string; questions: string[] }> {
  const team = await TestTeam.create(roundRobin([asker], 1));
  const { id: run } = await team.start("go");
  const { requests } = await team.rested(run);
  expect(requests.map(({ prompt }) => prompt)).toEqual(["one", "two"]);
  return { team, run, questions: requests.map(({ id }) => id) };
}

describe("continueRun", () => {
  test("gives all answers in one call, whose stream has the run before them and all that follows", async () => {
    const { team, run, questions } = await waiting();
    const answers = questions.map((request, index) => ({
      request,
      answer: { content: `answer ${index}` },
    }));
    const opened = value(await team.gateway.continueRun({ run, answers }, { after: 0 }));
    const frames = await framesOf(opened);
    expect(outline(frames).at(0)).toBe("run waiting");
    expect(outline(frames)).toContain("answer 0+answer 1");
    expect(outline(frames).at(-1)).toBe("TaskResult");
    const [before, ...after] = frames.flatMap(({ event, data }) =>
      event === "run" ? [(data as RunInfo).requests.map(({ id }) => id)] : [],
    );
    expect(before).toEqual(questions);
    expect(after.flat()).toEqual([]);
    expect(texts(await team.finished(run))).toEqual(["go", "answer 0+answer 1"]);

    // The same answers again, once the run is over and nothing is left to send.
    expect(value(await team.gateway.continueRun({ run, answers }, { after: 1_000_000 }))).toEqual({
      done: true,
    });
  });

  test("takes none of the answers when one is refused", async () => {
    const { team, run, questions } = await waiting();
    const [one = "", two = ""] = questions;
    const refusedAnswers: AnswersInput["answers"] = [
      { request: "no-such-request", answer: { content: "x" } },
      { request: two, answer: { approved: true } },
      { request: one, answer: { content: "another answer to the first question" } },
    ];
    for (const bad of refusedAnswers) {
      const answers = [{ request: one, answer: { content: "1" } }, bad];
      const refused = await team.gateway.continueRun({ run, answers }, { after: 0 });
      expect(refused.ok).toBe(false);
      expect((await team.gateway.answers({ run, answers })).ok).toBe(false);
    }
    expect((await team.run(run)).requests.map(({ id }) => id)).toEqual(questions);
  });

  test("leaves out an answer to a question that is no longer open, if the caller wants that", async () => {
    const { team, run, questions } = await waiting();
    const [one = "", two = ""] = questions;
    value(await team.gateway.answer(run, one, { content: "first" }));
    const answers = [one, two].map((request) => ({ request, answer: { content: "second" } }));
    expect(await team.gateway.answers({ run, answers })).toMatchObject({
      ok: false,
      problem: { status: 409, code: "already_answered" },
    });
    const lenient = answers.map((answer) => ({ ...answer, if_open: true }));
    value(await team.gateway.answers({ run, answers: lenient }));
    expect(texts(await team.finished(run))).toEqual(["go", "first+second"]);
  });
});

async function framesOf(
  opened: { body: ReadableStream<Uint8Array> } | { done: true },
): Promise<Frame[]> {
  const frames: Frame[] = [];
  if ("body" in opened) for await (const frame of readFrames(opened.body)) frames.push(frame);
  return frames;
}
