import OpenAI from "openai";
import { expect, test } from "vitest";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { KillableWorker } from "../../../support/killable-worker.ts";
import { newTeam, writer } from "../support/teams.ts";
import { all } from "./support/stage.ts";

const FIRST = Array.from({ length: 40 }, (_, index) => `first${index}`).join(" ");
const SECOND = Array.from({ length: 40 }, (_, index) => `second${index}`).join(" ");

type Event = OpenAI.Responses.ResponseStreamEvent;

function deltasOf(events: readonly Event[]): string {
  return events
    .flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []))
    .join("");
}

test("kill -9 in the middle of an answer never mixes its text with that of the next one", async () => {
  await using fake = await startFakeOpenAI({
    rules: [
      {
        name: "first",
        times: 1,
        pace_ms: 20,
        fault: { kind: "stall", after_chunks: 30 },
        reply: { content: FIRST },
      },
    ],
  });
  await using worker = await KillableWorker.start({
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: fake.url,
  });
  const openai = new OpenAI({
    baseURL: `${worker.origin}/openai/v1`,
    apiKey: "none",
    maxRetries: 0,
  });
  await newTeam(worker, { id: "desk", component: writer() });
  const seen: Event[] = [];
  const stream = await openai.responses.create({ model: "team:desk", input: "Go.", stream: true });
  try {
    for await (const event of stream) {
      seen.push(event);
      if (deltasOf(seen).split(" ").length < 12) continue;
      await worker.kill();
      break;
    }
  } catch {
    // The connection broke.
  }
  expect(FIRST.startsWith(deltasOf(seen))).toBe(true);
  fake.rules.set([{ name: "second", pace_ms: 20, reply: { content: SECOND } }]);
  await worker.restart();
  const [created] = seen;
  if (created?.type !== "response.created") throw new Error("it was not created");
  const response = created.response.id;
  const last = seen.at(-1)!.sequence_number;

  // A client that says what it has learns that it is void.
  const rest = openai.responses.retrieve(response, { stream: true, starting_after: last });
  await expect(rest.then((events) => all(events))).rejects.toMatchObject({
    code: "answer_changed",
    message: expect.stringContaining(response.split(".")[1]!),
  });

  // One that does not say so, as the client's own helper: an item of its own, in numbers of its own, while it streams ...
  const resumed = openai.responses.stream({ response_id: response, starting_after: last });
  const events: Event[] = [];
  resumed.on("event", (event) => events.push(event));
  const final = await resumed.finalResponse();
  expect([final.output.length, final.output_text]).toEqual([1, SECOND]);
  expect(deltasOf(events)).toBe(SECOND);
  const itemsOf = (list: readonly Event[]): Set<string> =>
    new Set(list.flatMap((event) => ("item_id" in event && event.item_id ? [event.item_id] : [])));
  expect([...itemsOf(events)].filter((item) => itemsOf(seen).has(item))).toEqual([]);
  expect(events.map(({ type }) => type)).toContain("response.output_item.added");

  // ... and when it is over.
  const again = await all(await openai.responses.retrieve(response, { stream: true }));
  expect(deltasOf(again)).toBe(SECOND);
  const numbers = (list: readonly Event[]) =>
    list
      .filter(({ type }) => type.includes("output_"))
      .map(({ type, sequence_number }) => [type, sequence_number]);
  expect(numbers(again)).toEqual(numbers(events));
});
