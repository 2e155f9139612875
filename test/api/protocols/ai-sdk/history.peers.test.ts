import * as fc from "fast-check";
import { TroupeClient } from "troupe/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Chunk } from "#api/protocols/ai-sdk/encoder/chunk.ts";
import { makeChatEncoder } from "#api/protocols/ai-sdk/encoder/encoder.ts";
import { UIMessageBuilder } from "#api/protocols/ai-sdk/ui-message.ts";
import { TestWorker } from "../../../support/worker.ts";
import { frames } from "../support/frames.ts";
import { parse, read, SDK_NAMES } from "./support/sdks.ts";
import type { UIMessage } from "../../../peers/ai-sdk.ts";
import { agent, calls, human, inTurn, TOOLS } from "./support/teams.ts";
import { newChat, textsOf } from "./support/test-chat.ts";

interface Page {
  messages: UIMessage[];
  next_cursor: string | null;
}

let worker: TestWorker;
let client: TroupeClient;

beforeAll(async () => {
  worker = await TestWorker.start();
  client = new TroupeClient({ baseURL: await worker.origin });
});
afterAll(() => worker[Symbol.asyncDispose]());

async function history(team: string, query = ""): Promise<Page> {
  const address = `${await worker.origin}/ai-sdk/teams/${team}/chat/any/messages${query}`;
  const response = await fetch(address);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

test("a message that is built from the history equals the one that the SDK builds from the stream", async () => {
  await fc.assert(
    fc.asyncProperty(frames, async (stream) => {
      const encoder = makeChatEncoder({ part: "new" });
      let text = "";
      for (const frame of stream) {
        if (!encoder.ended) text += encoder.encode(frame);
      }
      const { message, chunks } = await read("ai 7", await parse("ai 7", text));
      const builder = new UIMessageBuilder("");
      for (const chunk of chunks) builder.take(chunk as Chunk);
      if (message === undefined) expect(builder.message.parts).toEqual([]);
      // As JSON: the SDK sets fields to undefined.
      else expect(builder.message).toEqual(JSON.parse(JSON.stringify(message)));
    }),
  );
});

describe.each(SDK_NAMES)("the history of %s", (name) => {
  test("lets a page that is loaded later show the conversation and continue it", async () => {
    const look = calls("I calculate.", ["calculator", { expression: "6 * 7" }]);
    const { id } = await client.teams.create({
      component: inTurn(
        agent("clerk", [look, "It is 42.", look, "Still 42."], { tools: TOOLS, reflect: true }),
        human(),
        agent("end", ["Bye.", "Bye again."]),
      ),
    });
    const api = `${await worker.origin}/ai-sdk/teams/${id}/chat`;
    const first = newChat(name, api, { id: "chat" });
    await first.sendMessage({ text: "Calculate." });
    await first.sendMessage({ text: "Thank you." });
    const { messages, next_cursor } = await history(id);
    expect(next_cursor).toBeNull();
    expect(messages.map(({ role }) => role)).toEqual(first.messages.map(({ role }) => role));
    expect(messages.map(textsOf)).toEqual(first.messages.map(textsOf));
    const [task, called, , last] = first.messages;
    expect(messages[0]!.id).toBe(task!.id);
    expect(messages[1]!.id).toBe(called!.id);
    expect(messages[3]!.id).toBe(last!.id);
    expect(messages[1]!.parts).toContainEqual(
      JSON.parse(JSON.stringify(called!.parts.find(({ type }) => type === "dynamic-tool"))),
    );

    const second = newChat(name, api, { id: "chat", messages });
    await second.sendMessage({ text: "Once more." });
    expect(second.error).toBeUndefined();
    await second.sendMessage({ text: "That is all." });
    expect(textsOf(second.last)).toEqual(["Bye again."]);
    const latest = await history(id, "?limit=1");
    expect(textsOf(latest.messages[0]!)).toEqual(["Once more."]);
    const before = await history(id, `?limit=1&cursor=${latest.next_cursor}`);
    expect(before.messages).toEqual(messages);
  });

  test("shows the question of a run that waits, and a reloaded page can answer", async () => {
    const { id } = await client.teams.create({
      component: inTurn(agent("guide", ["Where to?"]), human(), agent("end", ["Bye."])),
    });
    const api = `${await worker.origin}/ai-sdk/teams/${id}/chat`;
    await newChat(name, api, { id: "chat" }).sendMessage({ text: "Hello." });
    const { messages } = await history(id);
    expect(messages.at(-1)!.parts.at(-1)).toMatchObject({
      type: "data-question",
      data: { source: "human" },
    });
    const again = newChat(name, api, { id: "chat", messages });
    await again.resumeStream();
    expect(again.messages.map(textsOf)).toEqual(messages.map(textsOf));
    await again.sendMessage({ text: "To Lisbon." });
    expect(textsOf(again.last)).toEqual(["Bye."]);
  });
});

test("a team without runs has no messages, and an invalid request is named", async () => {
  const { id } = await client.teams.create({ component: inTurn(agent("one", ["Hello."])) });
  expect(await history(id)).toEqual({ messages: [], next_cursor: null });
  const address = `${await worker.origin}/ai-sdk/teams/${id}/chat/any/messages`;
  const refused = await fetch(`${address}?limit=0`);
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("limit")]);
  const missing = await fetch(address.replace(id, "nobody"));
  expect([missing.status, await missing.text()]).toEqual([
    404,
    expect.stringContaining("team_not_found"),
  ]);
});
