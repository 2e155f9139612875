import { afterAll, beforeAll, expect, test } from "vitest";
import type { FoundMessages } from "troupe/client";
import { listener } from "../../../../console/test/support/components.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start();
  await worker.fetch("/v1/teams", jsonInit({ id: "heard", component: listener() }));
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const tasks = [
    "The lighthouse stands in the north.",
    ["A picture", { data }],
    `${"Many words. ".repeat(40)}A LIGHTHOUSE again, near the end.`,
  ];
  for (const content of tasks) {
    const type = typeof content === "string" ? "TextMessage" : "MultiModalMessage";
    const task = [{ type, source: "user", content }];
    const run = await worker.fetch("/v1/teams/heard/runs?wait=60", jsonInit({ task }));
    expect(run.status, await run.clone().text()).toBe(200);
  }
});

afterAll(() => worker[Symbol.asyncDispose]());

async function find(query: string): Promise<FoundMessages> {
  const response = await worker.fetch(`/v1/teams/heard/messages/search?${query}`);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as FoundMessages;
}

test("messages are found by a text inside them, the latest first, with an excerpt", async () => {
  const { messages, searched_to } = await find("q=lighthouse");
  expect(messages.map(({ type, source }) => [type, source])).toEqual([
    ["TextMessage", "user"],
    ["TextMessage", "user"],
  ]);
  expect(messages[0]?.excerpt).toMatch(/^(?=.{60,200}$).*A LIGHTHOUSE again, near the end\.$/s);
  expect(messages[1]?.excerpt).toBe("The lighthouse stands in the north.");
  expect(searched_to).toBeNull();
  const first = await find("q=lighthouse&limit=1");
  expect(first.messages).toEqual(messages.slice(0, 1));
  expect(await find(`q=lighthouse&before=${first.searched_to}`)).toMatchObject({
    messages: messages.slice(1),
  });
});

test("a search needs a text and ignores data and the fields of messages", async () => {
  for (const q of ["iVBORw0", "TextMessage", "nowhere"])
    expect(await find(`q=${q}`)).toEqual({ messages: [], searched_to: null });
  const refused = await worker.fetch("/v1/teams/heard/messages/search?q=");
  expect(await refused.json()).toMatchObject({ code: "invalid_query", errors: [{ path: "q" }] });
});
