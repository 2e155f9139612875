import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ComponentRegistry, openAIComponents } from "troupe";
import type { AssistantMessage, ChatCompletionClient, CreateResult, LLMMessage } from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { MAKERS, type TestedMaker } from "../../../support/makers.ts";
import { assistant, clientOf as openAIClient, collect, toolResult, user } from "../support.ts";

// Between a call and its result anything may have happened: another maker's model continues (a handoff, a fallback), the state
// is older than what makers want back, the key is another one. The request never ends with a refusal.

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tools = [{ name: "add", description: "Adds.", parameters: { type: "object" } }];

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI({
    rules: [
      { name: "answer", match: { role: "tool" }, reply: { content: "It is 5." } },
      { name: "later", match: { text: "And then?" }, reply: { content: "Nothing." } },
      {
        name: "calls",
        reply: {
          reasoning: "I have to add.",
          tool_calls: [
            { name: "add", arguments: { a: 2 } },
            { name: "add", arguments: { a: 3 } },
          ],
        },
      },
    ],
  });
});
afterAll(() => fake.close());
beforeEach(() => fake.log.clear());

const registry = new ComponentRegistry().register(...openAIComponents());

function clientOf(maker: TestedMaker, key?: string): ChatCompletionClient {
  return registry.load(maker.client(fake.origin, key), "model");
}

async function ask(
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  streamed: boolean,
): Promise<CreateResult> {
  if (!streamed) return client.create(messages, { tools });
  return (await collect(client.createStream(messages, { tools }))).result;
}

const statuses = (): (number | null)[] => fake.requests.map(({ status }) => status);

/** A conversation in which the maker's model has called tools, as an agent's context has it. */
async function calledBy(maker: TestedMaker, streamed: boolean): Promise<LLMMessage[]> {
  const question = user("What is 2 + 3?");
  const { content, thought = null, troupe } = await ask(clientOf(maker), [question], streamed);
  if (typeof content === "string") throw new Error(`${maker.name} made no calls`);
  const calls: AssistantMessage = {
    type: "AssistantMessage",
    source: "helper",
    content,
    thought,
    ...(troupe && { troupe }),
  };
  return [question, calls, resultsOf(content)];
}

function resultsOf(calls: readonly { id: string; name: string }[]): LLMMessage {
  return {
    type: "FunctionExecutionResultMessage",
    content: calls.map(({ id, name }) => ({ call_id: id, name, content: "5", is_error: false })),
  };
}

const old = (messages: readonly LLMMessage[]): LLMMessage[] =>
  messages.map((message) => {
    if (message.type !== "AssistantMessage") return message;
    const { troupe: _, ...rest } = message;
    return rest;
  });

const answered = { content: "It is 5.", finish_reason: "stop" };

describe.each([
  ["whole", false],
  ["streamed", true],
])("%s", (_, streamed) => {
  test.each(MAKERS)("the models of all makers continue after $name", async (before) => {
    const messages = await calledBy(before, streamed);
    const later = [...messages, user("And then?")];
    for (const after of MAKERS) {
      fake.log.clear();
      expect(await ask(clientOf(after), messages, streamed)).toMatchObject(answered);
      expect(await ask(clientOf(after), later, streamed)).toMatchObject({ content: "Nothing." });
      expect([after.name, ...statuses()]).toEqual([after.name, 200, 200]);
    }
  });

  test.each(MAKERS)("$name continues from an older state", async (maker) => {
    const messages = old(await calledBy(maker, streamed));
    expect(await ask(clientOf(maker), messages, streamed)).toMatchObject(answered);
    expect(statuses()).toEqual([200, 200]);
  });

  test.each(MAKERS)("$name continues with another key", async (maker) => {
    const messages = await calledBy(maker, streamed);
    const client = clientOf(maker, "another-key");
    expect(await ask(client, messages, streamed)).toMatchObject(answered);
    // What was refused is known, and not sent again.
    const refused = statuses().filter((status) => status !== 200).length;
    expect(refused).toBeLessThanOrEqual(1);
    await ask(client, [...messages, user("And then?")], streamed);
    expect(statuses().filter((status) => status !== 200)).toHaveLength(refused);
  });

  test.each(MAKERS)("$name continues with one of its calls, as after a handoff", async (maker) => {
    const [question, calls] = await calledBy(maker, streamed);
    if (question === undefined || calls?.type !== "AssistantMessage") throw new Error("no calls");
    for (const call of calls.content as { id: string; name: string }[]) {
      fake.log.clear();
      const kept = { ...calls, content: [call] } as AssistantMessage;
      const messages = [question, kept, resultsOf([call])];
      expect(await ask(clientOf(maker), messages, streamed)).toMatchObject(answered);
      expect(statuses()).toEqual([200]);
    }
  });
});

test.each(MAKERS)("$name continues after calls whose ids it would not take", async (maker) => {
  for (const id of ["functions.add:0", "", `call_${"x".repeat(60)}`]) {
    const call = { id, name: "add", arguments: "{}" };
    const other = { ...call, id: `${id}1` };
    const messages: LLMMessage[] = [
      user("What is 2 + 3?"),
      { type: "AssistantMessage", source: "helper", content: [call, other], thought: null },
      resultsOf([call, other]),
    ];
    expect(await ask(clientOf(maker), messages, false)).toMatchObject(answered);
    expect(statuses().filter((status) => status !== 200)).toEqual([]);
  }
});

test.each(MAKERS)("$name continues where it spoke last", async (maker) => {
  const messages = [user("What is 2 + 3?"), assistant("It is 5.")];
  for (const streamed of [false, true]) {
    const { usage } = await ask(clientOf(maker), messages, streamed);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
  }
  expect(statuses()).toEqual([200, 200]);
});

test("Mistral gets the images of results after an assistant's message", async () => {
  const client = openAIClient(fake, { model: "mistral-large-2512" });
  const call = { id: "call_1", name: "draw", arguments: "{}" };
  const results = toolResult("call_1", `[Image: ${PNG}]`);
  await client.create([user("Draw."), assistant([call]), results, user("And?")], { tools });
  const [{ status, body } = {}] = fake.requests;
  const { messages } = body as { messages: { role: string }[] };
  expect([status, messages.map(({ role }) => role)]).toEqual([
    200,
    ["user", "assistant", "tool", "assistant", "user", "assistant", "user"],
  ]);
});
