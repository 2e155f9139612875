import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fc from "fast-check";
import { EndingText } from "#api/protocols/openai/encoder/ending-text.ts";
import { casesOf } from "../../../support/samples.ts";
import { HUMAN, inTurn, newTeam, writer } from "../support/teams.ts";
import { all, type Stage, startStage } from "./support/stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

const messages = [{ role: "user" as const, content: "Write." }];

interface SentBody {
  stop?: unknown;
}

function lastSent(): SentBody {
  return stage.model.requests.at(-1)?.body as SentBody;
}

async function loggedIn(id: string): Promise<unknown> {
  const page = await stage.worker.fetch(`/v1/teams/${id}/messages`);
  const log = (await page.json()) as { messages: { content: unknown }[] };
  return log.messages.at(-1)?.content;
}

test("a text in pieces ends where the whole text would", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[ab]{0,4}$/), { maxLength: 8 }),
      fc.array(fc.stringMatching(/^[ab]{1,4}$/), { maxLength: 4 }),
      (pieces, stops) => {
        const text = new EndingText(stops);
        const shown = pieces.map((piece) => text.add(piece)).join("") + text.end();
        const whole = pieces.join("");
        const ends = stops.map((stop) => whole.indexOf(stop)).filter((index) => index >= 0);
        expect(shown).toBe(whole.slice(0, Math.min(whole.length, ...ends)));
        expect(text.isCut).toBe(ends.length > 0);
      },
    ),
    { numRuns: casesOf(300) },
  );
});

test.each([
  ["a text", " little", "Four"],
  ["a text across two pieces", "le wor", "Four litt"],
  ["the first of several", ["here", "words", "nothing"], "Four little "],
  ["a text that does not occur", "five", "Four little words here."],
  ["the beginning of a text at the end", "here.!", "Four little words here."],
])("an answer ends before %s of stop, and its message stays", async (name, stop, answer) => {
  const id = `stop-${name.length}`;
  const model = `team:${id}`;
  await newTeam(stage.worker, { id, component: writer() });
  const whole = await stage.openai.chat.completions.create({ model, messages, stop });
  expect(whole.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: answer } });
  expect(lastSent().stop).toEqual([stop].flat());
  const chunks = await all(
    await stage.openai.chat.completions.create({ model, messages, stop, stream: true }),
  );
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  expect(text).toBe(answer);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  expect(await loggedIn(id)).toBe("Four little words here.");
});

test("the models of several agents do not get stop, whose final answer ends before it", async () => {
  const id = "stop-several";
  await newTeam(stage.worker, { id, component: inTurn(writer({ name: "first" }), writer()) });
  const body = { model: `team:${id}`, messages, stop: ["words"] };
  const whole = await stage.openai.chat.completions.create(body);
  expect(whole.choices[0]?.message.content).toBe("Four little ");
  expect(lastSent().stop).toBeUndefined();
});

test("a question to a human is shown whole", async () => {
  const id = "stop-question";
  await newTeam(stage.worker, { id, component: inTurn(HUMAN) });
  const body = { model: `team:${id}`, messages, stop: "city" };
  const whole: OpenAI.ChatCompletion = await stage.openai.chat.completions.create(body);
  expect(whole.choices[0]?.message.content).toContain("Which city?");
});
