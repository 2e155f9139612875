import { describe, expect, test } from "vitest";
import { UserProxyAgent, run } from "troupe";
import type { ChatMessage, HandoffMessage } from "troupe";
import { outcome, RecordingHost } from "../support/recording-host.ts";

const handoffTo = (target: string): HandoffMessage => ({
  id: "h",
  source: "helper",
  target,
  content: "Yours.",
  context: [],
  models_usage: null,
  metadata: {},
  created_at: "2026-01-01T00:00:00.000Z",
  type: "HandoffMessage",
});

const human = new UserProxyAgent({ name: "human" });

function ask(agent: UserProxyAgent, journal: RecordingHost, messages: ChatMessage[] = []) {
  return outcome(agent.onMessagesStream(messages, journal.attempt()));
}

describe("a question in a turn that runs again", () => {
  test("suspends, and continues with the same ids once there is an answer", async () => {
    const journal = new RecordingHost();
    const first = await ask(human, journal);
    expect(first.error).toMatchObject({ kind: "suspend" });
    expect(first.items).toMatchObject([{ type: "UserInputRequestedEvent", source: "human" }]);
    expect(journal.questions).toEqual([
      {
        id: (first.items[0] as { request_id?: string }).request_id,
        kind: "input",
        source: "human",
        prompt: "Enter your response: ",
        timeoutSeconds: null,
        defaultAnswer: null,
      },
    ]);
    journal.answers.set(journal.questions[0]!.id, { content: "blue" });
    const second = await ask(human, journal);
    expect(second.items).toEqual(first.items);
    expect(second.result?.chatMessage).toMatchObject({
      type: "TextMessage",
      source: "human",
      content: "blue",
    });
  });

  test("calls an own input function once", async () => {
    const prompts: string[] = [];
    const own = new UserProxyAgent({
      name: "human",
      inputFunc: (prompt) => {
        prompts.push(prompt);
        return "green";
      },
    });
    const journal = new RecordingHost();
    const first = await ask(own, journal);
    expect(await ask(own, journal)).toEqual(first);
    expect(first.result?.chatMessage).toMatchObject({ content: "green" });
    expect(prompts).toEqual(["Enter your response: "]);
  });
});

async function answered(content: string | object, messages: ChatMessage[] = []) {
  const journal = new RecordingHost();
  await ask(human, journal, messages);
  journal.answers.set(journal.questions[0]!.id, { content: content as string });
  return { ...(await ask(human, journal, messages)), journal };
}

describe("the answers of a human", () => {
  test("are handoffs back if a handoff asked", async () => {
    const { result, journal } = await answered("blue", [handoffTo("human")]);
    expect(journal.questions[0]?.prompt).toBe(
      "Handoff received from helper. Enter your response: ",
    );
    expect(result?.chatMessage).toMatchObject({
      type: "HandoffMessage",
      source: "human",
      target: "helper",
      content: "blue",
      context: [],
    });
  });

  test("may be whole messages, which the human says", async () => {
    const { result } = await answered({
      type: "MultiModalMessage",
      source: "somebody",
      content: ["see", { data: "iVBORw0KGgo=" }],
    });
    expect(result?.chatMessage).toMatchObject({
      type: "MultiModalMessage",
      source: "human",
      content: ["see", { data: "iVBORw0KGgo=" }],
    });
  });

  test.each([
    [{ type: "ThoughtEvent", content: "x" }, /must be a chat message/],
    [{ type: "TextMessage" }, /content/],
  ])("%j is refused", async (content, message) => {
    const { error } = await answered(content);
    expect(error).toMatchObject({
      code: "invalid_message",
      message: expect.stringMatching(message),
    });
  });
});

test("a handoff to another agent is refused", async () => {
  const { error } = await ask(human, new RecordingHost(), [handoffTo("boss")]);
  expect(error).toMatchObject({ code: "invalid_value" });
});

test("an input function that throws fails the run", async () => {
  const broken = new UserProxyAgent({
    name: "human",
    inputFunc: () => Promise.reject(new Error("closed")),
  });
  await expect(run(broken, { task: "hi" })).rejects.toMatchObject({
    code: "input_failed",
    message: expect.stringContaining("closed"),
  });
});

test("a default answer and its timeout reach the question and the component JSON", async () => {
  const { fromConfig, configSchema } = UserProxyAgent.component;
  const config = {
    name: "human",
    description: "The person.",
    timeout_seconds: 60,
    default_answer: "go on",
    prompt: "Well? ",
  };
  const patient = fromConfig(configSchema.parse(config), undefined as never) as UserProxyAgent;
  expect(patient.toConfig()).toEqual(config);
  const journal = new RecordingHost();
  await ask(patient, journal);
  expect(journal.questions).toMatchObject([
    { timeoutSeconds: 60, defaultAnswer: { content: "go on" } },
  ]);
});

test("a timeout without an answer is refused", () => {
  expect(() => new UserProxyAgent({ name: "human", timeoutSeconds: 5 })).toThrow(/default_answer/);
});
