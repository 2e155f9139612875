import { describe, expect, test } from "vitest";
import {
  ChatCompletionClientSampler,
  HumanElicitor,
  McpSessionHost,
  McpWorkbench,
  ReplayChatCompletionClient,
  StaticRootsProvider,
} from "troupe";
import type { Answer, McpSessionHostOptions } from "troupe";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import { call, textsOf } from "../support/calls.ts";
import { type Kind, TestMcpServer } from "../support/test-server.ts";

const sampler = (approval?: "none") =>
  new ChatCompletionClientSampler(new ReplayChatCompletionClient(["In short."]), {
    ...(approval && { approval }),
  });

/** Makes a call in a host that suspends at each question, with these answers. */
async function callWith(
  server: TestMcpServer,
  options: McpSessionHostOptions,
  name: string,
  answers: Answer[] = [],
  modelClient?: () => ReplayChatCompletionClient,
) {
  const host = new RecordingHost();
  for (;;) {
    // A host builds the team again after a wait.
    const workbench = new McpWorkbench({
      serverParams: server.params,
      host: new McpSessionHost(options),
      modelClient: modelClient?.(),
    });
    try {
      const { result } = await call(workbench, name, {}, host);
      return { texts: textsOf(result), result, host };
    } catch (error) {
      const question = host.questions.at(-1);
      const answer = answers.shift();
      if (question === undefined || answer === undefined) throw error;
      host.answers.set(question.id, answer);
    } finally {
      await workbench.close();
    }
  }
}

describe.each(["modern", "sessions", "sse"] satisfies Kind[])("a %s server", (kind) => {
  test("asks a human, and the call is repeated with the answer", async () => {
    await using server = await TestMcpServer.start(kind);
    const { texts, host } = await callWith(server, { elicitor: new HumanElicitor() }, "confirm", [
      { content: { color: "red" } },
    ]);
    expect(texts).toEqual(['{"action":"accept","content":{"color":"red"}}']);
    expect(host.questions[0]).toMatchObject({ kind: "input", source: "clerk" });
    expect(host.questions[0]?.prompt).toContain("Which color?");
    expect(host.questions[0]?.prompt).toContain('"enum":["red","blue"]');
    expect(server.tools.calls).toHaveLength(2);
    const keys = server.tools.calls.map(({ meta }) => meta["troupe/idempotency-key"]);
    expect(keys).toEqual(["run/1/call", "run/1/call:1"]);
  });

  test.each([
    ["red", '{"action":"accept","content":{"color":"red"}}'],
    ['{"color":"blue"}', '{"action":"accept","content":{"color":"blue"}}'],
    ["decline", '{"action":"decline"}'],
    ["Cancel", '{"action":"cancel"}'],
    [
      { type: "TextMessage", source: "user", content: "red" },
      '{"action":"accept","content":{"color":"red"}}',
    ],
  ])("gets the answer %s", async (content, text) => {
    await using server = await TestMcpServer.start(kind);
    const elicitor = new HumanElicitor();
    expect((await callWith(server, { elicitor }, "confirm", [{ content }])).texts).toEqual([text]);
  });

  test("asks a model, with a human's approval", async () => {
    await using server = await TestMcpServer.start(kind);
    const { texts, host } = await callWith(server, { sampler: sampler() }, "summarize", [
      { approved: true },
    ]);
    expect(texts).toEqual(['{"type":"text","text":"In short."}']);
    expect(host.questions[0]).toMatchObject({
      kind: "approval",
      code: "user: Summarize this.",
    });
    expect([...host.records.values()].map(({ kind: step }) => step)).toContain("model");

    const refused = await callWith(server, { sampler: sampler() }, "summarize", [
      { approved: false, reason: "no" },
    ]);
    expect(refused.result.is_error).toBe(true);
    expect(refused.texts[0]).toContain("was not approved. Reason: no");
    const free = await callWith(server, { sampler: sampler("none") }, "summarize");
    expect(free.texts).toEqual(texts);
  });

  test("asks the workbench's model client, which AutoGen 0.7.5 has, with a human's approval", async () => {
    await using server = await TestMcpServer.start(kind);
    const modelClient = () => new ReplayChatCompletionClient(["In short."]);
    const { texts } = await callWith(server, {}, "summarize", [{ approved: true }], modelClient);
    expect(texts).toEqual(['{"type":"text","text":"In short."}']);
  });

  test("gets the roots", async () => {
    await using server = await TestMcpServer.start(kind);
    const roots = new StaticRootsProvider([{ uri: "file:///work", name: "work" }]);
    const { texts } = await callWith(server, { roots }, "where");
    expect(texts).toEqual(['{"roots":[{"uri":"file:///work","name":"work"}]}']);
  });

  test("gets an error if nothing answers", async () => {
    await using server = await TestMcpServer.start(kind);
    const { result } = await callWith(server, {}, "confirm");
    expect(result.is_error).toBe(true);
  });
});

test("a server may write only the text of its request, and null for omitted fields", async () => {
  const params = { messages: [{ role: "user", content: "Hi." }], systemPrompt: null };
  const answer = await sampler("none").sample(params, "clerk", new RecordingHost().attempt());
  expect(answer).toMatchObject({ content: { type: "text", text: "In short." } });
});

test("fields that an answer omits have the server's defaults", async () => {
  const schema = {
    type: "object",
    properties: {
      color: { type: "string", default: "red" },
      size: { type: "integer", default: 3 },
    },
  };
  const host = new RecordingHost();
  const params = { message: "Which?", requestedSchema: schema };
  const ask = () => new HumanElicitor().elicit(params, "clerk", host.attempt());
  await expect(ask()).rejects.toThrow("suspend");
  host.answers.set(host.questions[0]?.id ?? "", { content: { size: 4 } });
  expect(await ask()).toEqual({ action: "accept", content: { color: "red", size: 4 } });
});

test("an answer that does not fit is asked for again, and declined in the end", async () => {
  await using server = await TestMcpServer.start();
  const elicitor = new HumanElicitor();
  const { texts, host } = await callWith(server, { elicitor }, "confirm", [
    { content: "green" },
    { content: "red" },
  ]);
  expect(texts).toEqual(['{"action":"accept","content":{"color":"red"}}']);
  expect(host.questions.at(-1)?.prompt).toContain("The last answer was not used");
  const never = await callWith(
    server,
    { elicitor },
    "confirm",
    Array.from({ length: 5 }, () => ({ content: "green" })),
  );
  expect(never.texts).toEqual(['{"action":"decline"}']);
});

test("an unanswered question counts as cancelled after its time", async () => {
  await using server = await TestMcpServer.start();
  const elicitor = new HumanElicitor({ timeoutSeconds: 5 });
  const { host } = await callWith(server, { elicitor }, "confirm", [{ content: "cancel" }]);
  expect(host.questions[0]).toMatchObject({
    timeoutSeconds: 5,
    defaultAnswer: { content: "cancel" },
  });
});
