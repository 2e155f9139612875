import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { HUMAN, inTurn, newTeam, writer } from "../mcp/support/teams.ts";
import { all, LOCATE, runsOf, type Stage, startStage } from "./support/stage.ts";

let stage: Stage;
let count = 0;
let id: string;

beforeAll(async () => {
  stage = await startStage();
}, 60_000);

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
});

const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });

describe("a team as a model", { timeout: 60_000 }, () => {
  test("answers with its last message; what is new since its last answer is the task", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const model = `team:${id}`;
    const first = await openai.chat.completions.create({ model, messages: [user("Hello.")] });
    const [run] = await runsOf(worker, id);
    expect(first).toMatchObject({
      id: `chatcmpl-${id}.${run?.id}`,
      object: "chat.completion",
      model,
      choices: [
        {
          index: 0,
          finish_reason: "stop",
          logprobs: null,
          message: { role: "assistant", content: "two", refusal: null },
        },
      ],
      troupe: { team_id: id, run_id: run?.id },
    });
    expect(Math.abs(first.created - Date.now() / 1000)).toBeLessThan(60);
    const second = await openai.chat.completions.create({
      model,
      messages: [user("Hello."), assistant("two"), user("More."), user("And more.")],
    });
    expect(second.choices[0]?.message.content).toBe("three");
    const [latest] = await runsOf(worker, id);
    expect(latest?.task).toMatchObject([
      { type: "TextMessage", source: "user", content: "More." },
      { type: "TextMessage", source: "user", content: "And more." },
    ]);
  });

  test("streams", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const stream = await openai.chat.completions.create({
      model: `team:${id}`,
      messages: [user("Write.")],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await all(stream);
    expect(chunks.map((one) => one.choices[0]?.delta.content ?? "").join("")).toBe(
      "Four little words here.",
    );
  });
});
