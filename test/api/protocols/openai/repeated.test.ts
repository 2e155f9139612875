import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newTeam, writer } from "../support/teams.ts";
import { all, runsOf, type Stage, startStage } from "./support/stage.ts";

let stage: Stage;
let count = 0;
let id: string;
let model: string;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(async () => {
  id = `team${++count}`;
  model = `team:${id}`;
  await newTeam(stage.worker, { id, component: writer() });
});

interface Answered {
  status: number;
  body: { id: string; error?: { code: string; message: string; param: string } };
}

async function post(path: string, body: object): Promise<Answered> {
  const response = await stage.worker.fetch(`/openai/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `key-${id}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answered["body"] };
}

const user = { role: "user", content: "Write." };

const EQUAL = {
  "chat/completions": [
    { messages: [user] },
    { messages: [{ content: "Write.", role: "user" }], n: 1, stop: null, tools: [] },
    { messages: [{ ...user, content: [{ type: "text", text: "Write." }] }], metadata: {} },
    { messages: [user], tool_choice: "auto", response_format: { type: "text" }, store: false },
    { messages: [user], troupe: { on_conflict: "reject", show: "final" }, user: "" },
    { messages: [user], stream: false, stream_options: { include_usage: true } },
  ],
  responses: [
    { input: "Write." },
    { input: [user], background: false, store: true },
    { input: [{ type: "message", ...user }], instructions: null, truncation: "disabled" },
    { input: "Write.", text: { format: { type: "text" }, verbosity: "medium" } },
    { input: "Write.", stream: false, stream_options: { include_obfuscation: true } },
  ],
};

const OTHER = {
  "chat/completions": [
    { messages: [user, user] },
    { messages: [user], temperature: 0 },
    { messages: [user], stop: "." },
    { messages: [user], metadata: { a: "b" } },
    { messages: [user], troupe: { show: "all" } },
    { messages: [user], user: "anna" },
    { messages: [user], a_new_parameter: { a: 1 } },
  ],
  responses: [
    { input: "Write!" },
    { input: "Write.", instructions: "Be brief." },
    { input: "Write.", background: true },
    { input: "Write.", text: { format: { type: "json_object" } } },
    { input: "Write.", store: false },
  ],
};

test.each(["chat/completions", "responses"] as const)(
  "requests to %s are equal after parsing, and all others are refused in one sentence",
  async (path) => {
    const ids = new Set<string>();
    for (const body of EQUAL[path]) {
      const { status, body: answer } = await post(path, { model, ...body });
      expect(status).toBe(200);
      ids.add(answer.id);
    }
    expect(ids.size).toBe(1);
    for (const body of OTHER[path]) {
      const { status, body: answer } = await post(path, { model, ...body });
      expect([status, answer.error]).toEqual([
        400,
        {
          message: "The Idempotency-Key was used before for another request.",
          type: "invalid_request_error",
          param: "Idempotency-Key",
          code: "idempotency_mismatch",
        },
      ]);
    }
    expect(await runsOf(stage.worker, id)).toHaveLength(1);
  },
);

test("an answer that was cut off is fetched the other way", async () => {
  const headers = { "Idempotency-Key": `key-${id}` };
  const messages = [{ role: "user" as const, content: "Write." }];
  const stream = await stage.openai.chat.completions.create(
    { model, messages, stream: true, stream_options: { include_usage: true } },
    { headers },
  );
  const [first] = [await stream[Symbol.asyncIterator]().next()];
  stream.controller.abort();
  const whole = await stage.openai.chat.completions.create({ model, messages }, { headers });
  expect(first.value?.id).toBe(whole.id);
  expect(whole.choices[0]?.message.content).toBe("Four little words here.");
  const again = await stage.openai.chat.completions.create(
    { model, messages, stream: true },
    { headers },
  );
  const text = (await all(again)).map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  expect(text).toBe("Four little words here.");
  expect(await runsOf(stage.worker, id)).toHaveLength(1);
});
