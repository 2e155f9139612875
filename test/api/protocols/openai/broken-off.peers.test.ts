import { APIError } from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HttpAgent } from "../../../peers/ag-ui.ts";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { inTurn, newTeam, writer } from "../support/teams.ts";
import { all, runsOf, type Stage, startStage } from "./support/stage.ts";

const FAULTS: readonly NonNullable<RuleInput["fault"]>[] = [
  { kind: "cut", after_chunks: 2 },
  { kind: "unfinished", after_chunks: 2 },
  { kind: "error_event", after_chunks: 2 },
];
const ANSWER = "second0 second1 second2";

let stage: Stage;
let count = 0;
let id: string;
let model: string;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
  model = `team:${id}`;
});

function breakOff(fault: NonNullable<RuleInput["fault"]>, again = ANSWER): void {
  const first = { content: "first0 first1 first2 first3" };
  stage.model.rules.set([
    { name: "broken", times: 1, fault, reply: first, pace_ms: 20 },
    { name: "again", reply: { content: again }, pace_ms: 20 },
  ]);
}

async function runOf(): Promise<string> {
  const [run] = await runsOf(stage.worker, id);
  return run?.id ?? "";
}

test.each(FAULTS)(
  "a completion after $kind ends with an error that names the run",
  async (fault) => {
    breakOff(fault);
    await newTeam(stage.worker, { id, component: writer() });
    const { openai } = stage;
    const stream = openai.chat.completions.stream({
      model,
      messages: [{ role: "user", content: "Go." }],
    });
    let content = "";
    stream.on("content", (delta) => (content += delta));
    const error: unknown = await stream.finalChatCompletion().catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      code: "answer_changed",
      message: expect.stringContaining(await runOf()),
    });
    expect("first0 first1 first2 first3".startsWith(content)).toBe(true);
  },
);

test.each(FAULTS)(
  "a response after $kind ends so, too, and contains the last answer alone",
  async (fault) => {
    breakOff(fault);
    await newTeam(stage.worker, { id, component: writer() });
    const { openai } = stage;
    const stream = openai.responses.stream({ model, input: "Go." });
    let text = "";
    let seen = -1;
    let item = "";
    let response = "";
    stream.on("response.created", (event) => (response = event.response.id));
    stream.on("response.output_text.delta", ({ delta, sequence_number, item_id }) => {
      text += delta;
      seen = sequence_number;
      item = item_id;
    });
    await expect(stream.finalResponse()).rejects.toMatchObject({
      code: "answer_changed",
      message: expect.stringContaining(await runOf()),
    });
    expect(text).not.toContain("second");
    const { output, output_text } = await openai.responses.retrieve(response);
    expect([output.length, output_text]).toEqual([1, ANSWER]);
    const again = openai.responses.stream({ response_id: response });
    let replayed = "";
    again.on("response.output_text.delta", ({ delta }) => (replayed += delta));
    expect((await again.finalResponse()).output_text).toBe(ANSWER);
    expect(replayed).toBe(ANSWER);
    // A client that has void text gets the new one as an item of its own.
    const rest = await openai.responses.retrieve(response, { stream: true, starting_after: seen });
    const [ended, added, ...events] = await all(rest);
    expect(ended).toMatchObject({
      type: "response.output_item.done",
      output_index: 0,
      item: { id: item, status: "incomplete" },
    });
    expect(added).toMatchObject({ type: "response.output_item.added", output_index: 1 });
    const own = (added as { item: { id: string } }).item.id;
    expect(own).not.toBe(item);
    const deltas = events.flatMap((event) =>
      event.type === "response.output_text.delta" ? [event] : [],
    );
    expect(deltas.map(({ delta }) => delta).join("")).toBe(ANSWER);
    expect(new Set(deltas.map(({ item_id }) => item_id))).toEqual(new Set([own]));
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: [{ id: own, content: [{ text: ANSWER }] }] },
    });
  },
);

test("a completion continues if the model repeats its text", async () => {
  breakOff({ kind: "cut", after_chunks: 3 }, "first0 first1 first2 and more");
  await newTeam(stage.worker, { id, component: writer() });
  const stream = stage.openai.chat.completions.stream({
    model,
    messages: [{ role: "user", content: "Go." }],
  });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]?.message.content).toBe("first0 first1 first2 and more");
});

test("a response continues in its item if the model repeats its text, and so does a stream opened again", async () => {
  breakOff({ kind: "cut", after_chunks: 3 }, "first0 first1 first2 and more");
  await newTeam(stage.worker, { id, component: writer() });
  const stream = stage.openai.responses.stream({ model, input: "Go." });
  const deltas: { delta: string; sequence_number: number; item_id: string }[] = [];
  stream.on("response.output_text.delta", (event) => deltas.push(event));
  const { id: response, output, output_text } = await stream.finalResponse();
  expect(output_text).toBe("first0 first1 first2 and more");
  expect(deltas.map(({ delta }) => delta).join("")).toBe(output_text);
  expect(new Set(deltas.map(({ item_id }) => item_id))).toEqual(new Set([output[0]?.id]));
  let had = "";
  for (const { delta, sequence_number } of deltas) {
    had += delta;
    // Also after a piece of the call that broke off.
    const rest = await stage.openai.responses.retrieve(response, {
      stream: true,
      starting_after: sequence_number,
    });
    const events = await all(rest);
    const more = events.flatMap((event) =>
      event.type === "response.output_text.delta" ? [event] : [],
    );
    expect(had + more.map((event) => event.delta).join("")).toBe(output_text);
    for (const { item_id } of more) expect(item_id).toBe(output[0]?.id);
    expect(events[more.length]?.type).toBe("response.output_text.done");
    expect(events.at(-1)).toMatchObject({ response: { output: [{ id: output[0]?.id }] } });
  }
});

test.each([
  ["one agent", writer(), 1],
  ["two agents", inTurn(writer(), writer({ name: "critic" })), 2],
] as const)(
  "an AG-UI client of %s holds the content of the log",
  async (_, component, messages) => {
    for (const fault of FAULTS) {
      breakOff(fault);
      id = `team${++count}`;
      await newTeam(stage.worker, { id, component });
      const url = new URL(`/ag-ui/teams/${id}`, await stage.worker.origin);
      const agent = new HttpAgent({ url: url.href });
      agent.messages.push({ id: "u1", role: "user", content: "Go." });
      const shown: string[] = [];
      await agent.runAgent(
        {},
        { onTextMessageContentEvent: ({ event }) => void shown.push(event.delta) },
      );
      // What broke off was shown while it streamed.
      expect(shown[0]).toMatch(/^first0/);
      const said = agent.messages
        .filter(({ role }) => role !== "activity")
        .map(({ role, content }) => [role, content]);
      expect(said).toEqual([
        ["user", "Go."],
        ...Array.from({ length: messages }, () => ["assistant", ANSWER]),
      ]);
    }
  },
);

test("the texts of a template whose model streams them otherwise appear once in an AG-UI client", async () => {
  const template = await stage.worker.fetch("/v1/templates");
  const { templates } = (await template.json()) as {
    templates: { name: string; component: unknown }[];
  };
  const component = templates.find(({ name }) => name === "writer_critic")?.component;
  await newTeam(stage.worker, { id, component });
  const url = new URL(`/ag-ui/teams/${id}`, await stage.worker.origin);
  const agent = new HttpAgent({ url: url.href });
  agent.messages.push({ id: "u1", role: "user", content: "Write about a lighthouse." });
  await agent.runAgent();
  const log = (await (await stage.worker.fetch(`/v1/teams/${id}/messages`)).json()) as {
    messages: { id: string; type: string; source: string; content: string }[];
  };
  const logged = log.messages.filter(
    ({ type, source }) => type === "TextMessage" && source !== "user",
  );
  expect(logged.length).toBeGreaterThan(2);
  expect(
    agent.messages
      .filter(({ role }) => role !== "activity")
      .slice(1)
      .map((one) => [one.id, one.content]),
  ).toEqual(logged.map((one) => [one.id, one.content]));
});
