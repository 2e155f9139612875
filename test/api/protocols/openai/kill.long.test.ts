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

interface Killed extends AsyncDisposable {
  openai: OpenAI;
  /** The events before the process was killed. */
  seen: Event[];
  response: string;
  last: number;
}

/** A process that was killed in the middle of an answer, and that answers again with this text. */
async function killed(again: string): Promise<Killed> {
  await using stack = new AsyncDisposableStack();
  const fake = stack.use(
    await startFakeOpenAI({
      rules: [
        {
          name: "first",
          times: 1,
          pace_ms: 20,
          fault: { kind: "stall", after_chunks: 30 },
          reply: { content: FIRST },
        },
      ],
    }),
  );
  const worker = stack.use(
    await KillableWorker.start({ OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: fake.url }),
  );
  const baseURL = `${worker.origin}/openai/v1`;
  const openai = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
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
  fake.rules.set([{ name: "second", pace_ms: 20, reply: { content: again } }]);
  await worker.restart();
  const [created] = seen;
  if (created?.type !== "response.created") throw new Error("it was not created");
  const owned = stack.move();
  return {
    openai,
    seen,
    response: created.response.id,
    last: seen.at(-1)!.sequence_number,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("a client continues in the item that it has after kill -9, if the model repeats its text", async () => {
  await using stage = await killed(`${FIRST} and more`);
  const { openai, seen, response, last } = stage;
  const rest = await openai.responses.retrieve(response, { stream: true, starting_after: last });
  const events = await all(rest);
  const items = [...seen, ...events].flatMap((event) =>
    "item_id" in event ? [event.item_id] : [],
  );
  expect(new Set(items).size).toBe(1);
  expect(events.map(({ type }) => type)).not.toContain("response.output_item.added");
  expect(deltasOf([...seen, ...events])).toBe(`${FIRST} and more`);
  expect(events.at(-1)).toMatchObject({ response: { output: [{ id: items[0] }] } });
});

test("kill -9 in the middle of an answer never mixes its text with that of the next one", async () => {
  await using stage = await killed(SECOND);
  const { openai, seen, response, last } = stage;

  // A client that says what it has gets the new text as an item of its own.
  const rest = await openai.responses.retrieve(response, { stream: true, starting_after: last });
  const [ended, added, ...others] = await all(rest);
  const before = seen.flatMap((event) => ("item_id" in event ? [event.item_id] : []));
  expect(ended).toMatchObject({
    type: "response.output_item.done",
    item: { id: before[0], status: "incomplete" },
  });
  if (added?.type !== "response.output_item.added") throw new Error("there is no other item");
  expect(before).not.toContain(added.item.id);
  expect(deltasOf(others)).toBe(SECOND);
  expect(others.at(-1)).toMatchObject({ response: { output: [{ id: added.item.id }] } });

  // One that does not say so, as the client's own helper, gets the item from its beginning, in numbers of its own, while it streams ...
  const resumed = openai.responses.stream({ response_id: response, starting_after: last });
  const events: Event[] = [];
  resumed.on("event", (event) => events.push(event));
  const final = await resumed.finalResponse();
  expect([final.output.length, final.output_text]).toEqual([1, SECOND]);
  expect(deltasOf(events)).toBe(SECOND);
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
