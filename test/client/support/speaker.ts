import { expect } from "vitest";
import { toText } from "troupe";
import type { StreamItem } from "#client/index.ts";
import type { JsonObject } from "#core/json.ts";

export const SENTENCE = "the quick brown fox jumps over the lazy dog and runs away "
  .repeat(6)
  .trim();

/** An agent whose model streams its reply. @param url the address of the model server */
export function speaker(url: string): JsonObject {
  return {
    provider: "AssistantAgent",
    config: {
      name: "speaker",
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "gpt-4o", base_url: url, api_key: "test", max_retries: 0 },
      },
      model_client_stream: true,
    },
  };
}

/** What a page would show of the speaker after each item, from the items alone. */
function shown(items: readonly StreamItem[]): string[] {
  let text = "";
  return items.map((item) => {
    if (item.kind === "text") text = item.delta === null ? item.text.content : text + item.delta;
    if (item.kind === "discard") text = "";
    if (item.kind === "message" && item.message.source === "speaker") text = toText(item.message);
    return text;
  });
}

/** Fails unless the page always showed the beginning of the sentence, and all of it in the end. */
export function expectSentence(items: readonly StreamItem[]): void {
  const texts = shown(items);
  expect(texts.filter((text) => !SENTENCE.startsWith(text))).toEqual([]);
  expect(texts.at(-1)).toBe(SENTENCE);
}
