import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ComponentRegistry, openAIComponents } from "troupe";
import type { ChatCompletionClient, LLMMessage } from "troupe";
import { conversations } from "../../../support/damaged-conversations.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { MAKERS } from "../../../support/makers.ts";
import { casesOf } from "../../../support/samples.ts";
import { CLIENTS } from "../contract/clients.ts";
import { user } from "../support.ts";

// Whatever a conversation holds, no maker refuses the next request: one bad answer of a model, one cut text of a tool or an
// older state must not end a team for ever.

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI();
});
afterAll(() => fake.close());

const registry = new ComponentRegistry().register(...openAIComponents());
const tools = [{ name: "lookup", description: "Half of a character: \ud83e", parameters: {} }];
const modelInfo = {
  vision: true,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: false,
  family: "unknown",
};

type Connect = () => ChatCompletionClient;

const ASKED: readonly (readonly [name: string, connect: Connect])[] = [
  ...MAKERS.map(({ name, client }): [string, Connect] => [
    name,
    () => {
      const component = client(fake.origin);
      const config = component.config as { model_info?: object };
      const model_info = config.model_info && { ...config.model_info, vision: true };
      const changed = { ...config, ...(model_info ? { model_info } : { cache: "off" }) };
      return registry.load({ ...component, config: changed }, "model");
    },
  ]),
  ...["mistral-large-2512", "claude-opus-4-5", "claude-opus-4-6", "gemini-2.5-flash"].map(
    (model): [string, Connect] => [
      `${model} by chat completions`,
      () => CLIENTS[0]!.connect(fake.origin, { model, modelInfo }),
    ],
  ),
  ...CLIENTS.map(({ name, connect }): [string, Connect] => [
    name,
    () => connect(fake.origin, { modelInfo }),
  ]),
];

/** The elements of the conversation in a request. */
function elementsOf(client: ChatCompletionClient, messages: readonly LLMMessage[]): string[] {
  const written = client.writeRequest?.(messages, { tools }, { streamed: false });
  const { messages: elements, input } = JSON.parse(written?.body ?? "") as {
    messages?: unknown[];
    input?: unknown[];
  };
  return (elements ?? input ?? []).map((element) => JSON.stringify(element, unmarked));
}

/** Without the marks for a cache, which each request has at its own end, and in whose places a text is a block. */
function unmarked(name: string, value: unknown): unknown {
  if (name === "cache_control") return undefined;
  const [block, ...others] = (name === "content" && Array.isArray(value) ? value : []) as {
    type?: string;
    text?: string;
  }[];
  return block?.type === "text" && others.length === 0 ? block.text : value;
}

describe.each(ASKED)("the API of %s", (_, connect) => {
  test("accepts any conversation, and the next request begins with the same", async () => {
    const client = connect();
    await fc.assert(
      fc.asyncProperty(conversations, fc.boolean(), async (messages, streamed) => {
        fake.log.clear();
        const before = structuredClone(messages);
        if (streamed) for await (const _piece of client.createStream(messages, { tools }));
        else await client.create(messages, { tools });
        expect(fake.requests.map(({ status }) => status)).toEqual([200]);
        const elements = elementsOf(client, messages);
        expect(elements.length).toBeGreaterThan(0);
        const next = elementsOf(client, [...messages, user("And then?")]);
        // What ends a conversation may be an addition, which the next message makes needless.
        const kept = elements.slice(0, -1);
        expect(next.slice(0, kept.length)).toEqual(kept);
        expect(elementsOf(connect(), messages)).toEqual(elements);
        expect(messages).toEqual(before);
      }),
      { numRuns: casesOf(75) },
    );
  });
});
