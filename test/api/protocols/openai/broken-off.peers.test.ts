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
    let response = "";
    stream.on("response.created", (event) => (response = event.response.id));
    stream.on("response.output_text.delta", ({ delta, sequence_number }) => {
      text += delta;
      seen = sequence_number;
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
    // A client that has void text cannot continue after it.
    const rest = await openai.responses.retrieve(response, { stream: true, starting_after: seen });
    await expect(all(rest)).rejects.toMatchObject({ code: "answer_changed" });
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
      const said = agent.messages.map(({ role, content }) => [role, content]);
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
  expect(agent.messages.slice(1).map((one) => [one.id, one.content])).toEqual(
    logged.map((one) => [one.id, one.content]),
  );
});
