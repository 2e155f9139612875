import { ClientFactory } from "@a2a-js/sdk/client";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import {
  A2AAgent,
  a2aComponents,
  ComponentRegistry,
  dumpComponent,
  type Message,
  type Question,
  run,
  runStream,
  toText,
  TurnSignal,
} from "troupe";
import type { RemoteWork } from "#core/steps/remote-work.ts";
import { EchoServer } from "../../support/echo-server.ts";
import { RecordingHost } from "../../core/support/recording-host.ts";
import { textPart } from "../../api/protocols/a2a/support/client.ts";
import { AgentServer, type AgentServerOptions, textOf, type Work } from "./support/agent-server.ts";

let servers: AgentServer[] = [];
afterEach(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  servers = [];
});

async function serve(work: Work, options?: AgentServerOptions): Promise<AgentServer> {
  const server = await AgentServer.start(work, options);
  servers.push(server);
  return server;
}

const agentAt = ({ url }: { url: string }, more: object = {}): A2AAgent =>
  new A2AAgent({ name: "remote", url, ...more });

/** What comes, and the texts of chunks. */
async function play(agent: A2AAgent, task: string, options = {}) {
  const messages: Message[] = [];
  let chunks = "";
  for await (const item of runStream(agent, { task, outputTaskMessages: false, ...options })) {
    if (item.type === "TaskResult") continue;
    if (item.type === "ModelClientStreamingChunkEvent") chunks += item.content;
    else messages.push(item);
  }
  return { messages, chunks };
}

/** Writes the text in two pieces, once the client follows the task. */
const writing: Work = async (about) => {
  about.begin();
  await about.watched;
  about.artifact(`You said `);
  about.artifact(`${about.text}.`, { append: true });
  about.status("COMPLETED");
};

test("the agent streams the text of the remote agent and answers with it, in one conversation", async () => {
  const server = await serve(writing);
  const agent = agentAt(server);
  const { messages, chunks } = await play(agent, "one");
  expect(messages.map((message) => toText(message))).toEqual(["You said one."]);
  expect(chunks).toBe("You said one.");
  const [sent] = server.messages;
  expect(messages[0]).toMatchObject({
    type: "TextMessage",
    source: "remote",
    metadata: { a2a_context_id: sent!.contextId, a2a_task_id: sent!.taskId },
  });
  const state = agent.saveState();
  expect(state).toMatchObject({ type: "A2AAgentState", context_id: sent!.contextId });
  const other = agentAt(server);
  other.loadState(state);
  await play(other, "two");
  expect(server.messages.map(({ contextId }) => contextId)).toEqual([
    sent!.contextId,
    sent!.contextId,
  ]);
  await other.onReset(new RecordingHost().attempt());
  await play(other, "three");
  expect(server.messages[2]!.contextId).not.toBe(sent!.contextId);
});

test("the agent names the authors of several messages, and sends pictures", async () => {
  const server = await serve(writing);
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await run(agentAt(server), {
    task: [
      { type: "TextMessage", source: "writer", content: "A poem." },
      { type: "MultiModalMessage", source: "painter", content: ["Look.", { data }] } as never,
    ],
  });
  const { parts } = server.messages[0]!;
  expect(parts.map(({ content }) => content?.$case)).toEqual(["text", "text", "raw"]);
  expect(textOf(server.messages[0]!)).toBe("writer: A poem.|painter: Look.|?");
  expect(parts[2]).toMatchObject({ mediaType: "image/png" });
});

test("the agent asks a human the remote agent's question, and sends the answer to the same task", async () => {
  const server = await serve(async (about) => {
    about.begin();
    if (about.earlier === undefined) return about.status("INPUT_REQUIRED", "Which city?");
    about.artifact(`${about.text} it is.`);
    about.status("COMPLETED");
  });
  const questions: Question[] = [];
  const { messages } = await play(agentAt(server), "Book it.", {
    answer: async (question: Question) => {
      questions.push(question);
      return { content: "Lisbon" };
    },
  });
  expect(questions).toMatchObject([{ kind: "input", source: "remote", prompt: "Which city?" }]);
  expect(messages.map((message) => toText(message))).toEqual(["Lisbon it is."]);
  const [first, second] = server.messages;
  expect(second).toMatchObject({ taskId: first!.taskId, contextId: first!.contextId });
});

test("the agent accepts an answer without a task, and one without a stream", async () => {
  const plain = await serve(async (about) => about.say("Hello."));
  expect((await play(agentAt(plain), "Hi.")).messages.map((message) => toText(message))).toEqual([
    "Hello.",
  ]);
  expect(plain.methods).toEqual(["SendMessage"]);
  const polled = await serve(writing, { streaming: false });
  const { messages } = await play(agentAt(polled), "one");
  expect(messages.map((message) => toText(message))).toEqual(["You said one."]);
  expect(new Set(polled.methods)).toEqual(new Set(["SendMessage", "GetTask"]));
});

test.each([
  ["FAILED", "Out of paper.", /is failed: Out of paper/],
  ["REJECTED", "I will not.", /is rejected: I will not/],
  ["CANCELED", undefined, /is canceled/],
  ["AUTH_REQUIRED", "Log in.", /is auth required: Log in/],
])("the agent fails when the task is %s", async (state, text, message) => {
  const server = await serve(async (about) => {
    about.begin();
    about.status(state, text);
  });
  await expect(run(agentAt(server), { task: "Go." })).rejects.toMatchObject({
    code: "a2a_failed",
    message: expect.stringMatching(message),
  });
});

test("the agent sends its headers, with secrets that no error shows", async () => {
  const server = await serve(writing, { authorization: "Bearer secret-1" });
  const headers = { authorization: "Bearer env:REMOTE_KEY" };
  const key = (value: string) => ({ env: () => value });
  const agent = new A2AAgent({ name: "remote", url: server.url, headers }, key("secret-1"));
  expect((await play(agent, "one")).chunks).toBe("You said one.");
  expect(JSON.stringify(dumpComponent(agent))).not.toContain("secret-1");
  const wrong = new A2AAgent({ name: "remote", url: server.url, headers }, key("secret-2"));
  await expect(run(wrong, { task: "Go." })).rejects.toMatchObject({
    code: "a2a_refused",
    message: expect.stringMatching(/401.*Bearer \[redacted\]/),
  });
});

test("a passing failure is tried again", async () => {
  const server = await serve(writing);
  server.failing = [503];
  expect((await play(agentAt(server), "one")).chunks).toBe("You said one.");
});

test("a host that does not exist fails after the attempts of its policy", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }).setTimerTickMode("nextTimerAsync");
  onTestFinished(() => void vi.useRealTimers());
  let attempts = 0;
  const gone = new A2AAgent(
    { name: "remote", url: "https://gone.example.com/", retry: { attempts: 3 } },
    {
      fetch: () => {
        attempts++;
        return Promise.reject(new TypeError("no route"));
      },
    },
  );
  await expect(run(gone, { task: "Go." })).rejects.toMatchObject({
    code: "a2a_connection",
    cause: { message: '"gone.example.com" cannot be reached: no route (3 attempts in 1 second)' },
  });
  expect(attempts).toBe(3);
});

test("a task that takes too long, or whose run is cancelled, is cancelled", async () => {
  const server = await serve(async (about) => {
    about.begin();
    await new Promise(() => undefined);
  });
  const slow = agentAt(server, { timeout: 1 });
  await expect(run(slow, { task: "Go." })).rejects.toMatchObject({ code: "a2a_timeout" });
  expect(server.cancelled).toHaveLength(1);
  const stop = new AbortController();
  const running = run(agentAt(server), { task: "Go.", signal: stop.signal });
  await expect.poll(() => server.methods.filter((one) => one === "SubscribeToTask").length).toBe(2);
  stop.abort();
  await expect(running).rejects.toThrow();
  await expect.poll(() => server.cancelled.length).toBe(2);
});

test("a task that a run has left is over when its agent reports it, and only then", async () => {
  const state = (name: string): object => ({ task: { id: "t", status: { state: name } } });
  const error = (code: number): object => ({ error: { code, message: "No." } });
  let answer: { status?: number; body: object | string } = { body: "" };
  const methods: string[] = [];
  await using server: EchoServer = await EchoServer.start((response, { method, body }) => {
    response.setHeader("content-type", "application/json");
    if (method === "GET") {
      const url = `http://127.0.0.1:${server.port}/rpc`;
      const offer = { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
      return void response.end(JSON.stringify({ supportedInterfaces: [offer] }));
    }
    const { method: called } = JSON.parse(body) as { method: string };
    methods.push(called);
    if (called === "SendMessage") {
      return void response.end(JSON.stringify({ result: state("TASK_STATE_INPUT_REQUIRED") }));
    }
    response.statusCode = answer.status ?? 200;
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  });
  const config = { name: "remote", url: `http://127.0.0.1:${server.port}/` };
  const agent = new A2AAgent(config);
  const host = new RecordingHost();
  await expect(agent.onMessagesStream([], host.attempt()).next()).rejects.toThrow(TurnSignal);
  const [begun, asked] = ["0/send", "0/request"].map((key) => {
    const { outcome } = host.records.get(key) ?? {};
    return (outcome && "ok" in outcome ? outcome.ok : {}) as { remote: RemoteWork };
  });
  const end = (work: RemoteWork | undefined, by = agent): Promise<string> | undefined =>
    by.cancelWork(work!, AbortSignal.timeout(60_000))?.catch((thrown: Error) => thrown.message);
  for (const [given, said] of [
    [{ body: { result: state("TASK_STATE_CANCELED") } }, "over"],
    [{ body: { result: state("TASK_STATE_COMPLETED") } }, "over"],
    [{ body: { result: state("TASK_STATE_WORKING") } }, "going_on"],
    [{ body: error(-32_001) }, "over"],
    [{ body: error(-32_002) }, "over"],
    [{ body: error(-32_601) }, "over"],
    [{ status: 400, body: error(-32_002) }, "over"],
    [{ status: 404, body: "Nothing here." }, "over"],
    [{ body: error(-32_603) }, /refuses/],
    [{ status: 401, body: "Who are you?" }, /HTTP 401/],
    [{ status: 503, body: "Later." }, /HTTP 503/],
    [{ body: "<html>" }, /not JSON/],
  ] as const) {
    answer = given;
    expect(await end(begun?.remote), JSON.stringify(given)).toMatch(said);
  }
  expect(new Set(methods.splice(0))).toEqual(new Set(["SendMessage", "CancelTask"]));

  // The answer to the message was lost: it is in the history of its task.
  const message = asked?.remote.id ?? "";
  answer = { body: { result: { tasks: [{ id: "other", status: {}, history: [] }] } } };
  expect(await end(asked?.remote)).toBe("unknown");
  const task = { id: "t", status: {}, history: [{ messageId: message }] };
  answer = { body: { result: { tasks: [task], ...task } } };
  expect(await end(asked?.remote)).toBe("going_on");
  expect(methods).toEqual(["ListTasks", "ListTasks", "CancelTask"]);

  for (const other of [{ name: "other" }, { url: "http://127.0.0.1:1/" }]) {
    expect(end(begun?.remote, new A2AAgent({ ...config, ...other }))).toBeUndefined();
  }
});

test("a turn that runs again follows the existing task, and sends nothing", async () => {
  const server = await serve(writing);
  const agent = agentAt(server);
  const host = new RecordingHost();
  const turn = async (interruption = {}) => {
    const ctx = host.attempt(interruption);
    const message = { type: "TextMessage", source: "user", content: "one" } as const;
    const common = { id: "m", models_usage: null, metadata: {}, created_at: ctx.now() };
    const stream = agent.onMessagesStream([{ ...common, ...message }], ctx);
    let next = await stream.next();
    while (!next.done) next = await stream.next();
    return toText(next.value.chatMessage);
  };
  await expect(turn({ during: "0/follow" })).rejects.toThrow();
  expect(await turn()).toBe("You said one.");
  expect(server.methods.filter((one) => one === "SendMessage")).toHaveLength(1);
  // What is recorded is not asked for at all.
  const calls = server.methods.length;
  expect(await turn()).toBe("You said one.");
  expect(server.methods).toHaveLength(calls);
});

test("a message that was being sent is sent again as the same one", async () => {
  const server = await serve(writing);
  const agent = agentAt(server);
  const host = new RecordingHost();
  const turn = async (interruption = {}) => {
    const stream = agent.onMessagesStream([], host.attempt(interruption));
    let next = await stream.next();
    while (!next.done) next = await stream.next();
  };
  await expect(turn({ during: "0/send" })).rejects.toThrow();
  await turn();
  const ids = server.messages.map(({ messageId }) => messageId);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
});

/** Asks for a city, then for a date if it is Rome, and books. */
const booking: Work = async (about) => {
  about.begin();
  if (about.earlier === undefined) return about.status("INPUT_REQUIRED", "Which city?");
  if (about.text === "Rome") return about.status("INPUT_REQUIRED", "Which day?");
  about.artifact(`${about.text} it is.`);
  about.status("COMPLETED");
};

/** Breaks the connection of the second `SendMessage`: the answer. */
function breakAnswer(server: AgentServer, where: "before" | "during" | "after"): void {
  let seen = 0;
  server.breaks = (method) => (method === "SendMessage" && ++seen === 2 ? where : undefined);
}

const answerIn = (...answers: string[]) => ({
  answer: async () => ({ content: answers.shift() ?? "Nothing." }),
});

test("an answer whose connection broke after it arrived is not given twice", async () => {
  const server = await serve(booking);
  breakAnswer(server, "after");
  const { messages } = await play(agentAt(server), "Book it.", answerIn("Lisbon"));
  expect(messages.map((message) => toText(message))).toEqual(["Lisbon it is."]);
  expect(server.messages.map(textOf)).toEqual(["Book it.", "Lisbon"]);
  expect(server.methods.filter((method) => method === "SendMessage")).toHaveLength(2);
});

test("the question that the remote agent asked meanwhile is asked, and answered", async () => {
  const server = await serve(booking);
  breakAnswer(server, "after");
  const { messages } = await play(agentAt(server), "Book it.", answerIn("Rome", "Monday"));
  expect(messages.map((message) => toText(message))).toEqual(["Monday it is."]);
  expect(server.messages.map(textOf)).toEqual(["Book it.", "Rome", "Monday"]);
});

test("an answer that did not arrive is sent again as the same message", async () => {
  const server = await serve(booking);
  breakAnswer(server, "before");
  const { messages } = await play(agentAt(server), "Book it.", answerIn("Lisbon"));
  expect(messages.map((message) => toText(message))).toEqual(["Lisbon it is."]);
  expect(server.messages.map(textOf)).toEqual(["Book it.", "Lisbon"]);
  const checks = server.methods.slice(server.methods.lastIndexOf("SendMessage") - 1);
  expect(checks[0]).toBe("GetTask");
});

test("an answer that has arrived and is still read is waited for", async () => {
  let read = (): void => undefined;
  const reading = new Promise<void>((resolve) => (read = resolve));
  const server = await serve(async (about) => {
    if (about.earlier !== undefined) await reading;
    return booking(about);
  });
  breakAnswer(server, "during");
  const { breaks } = server;
  let looks = 0;
  server.breaks = (method) => {
    if (method === "GetTask" && server.messages.length === 2 && ++looks === 1) read();
    return breaks(method);
  };
  const { messages } = await play(agentAt(server), "Book it.", answerIn("Lisbon"));
  expect(messages.map((message) => toText(message))).toEqual(["Lisbon it is."]);
  expect(server.messages.map(textOf)).toEqual(["Book it.", "Lisbon"]);
  expect(looks).toBeGreaterThanOrEqual(2);
});

test("a task that another client has answered continues without the answer", async () => {
  const server = await serve(booking);
  const { messages } = await play(agentAt(server), "Book it.", {
    answer: async () => {
      const client = await new ClientFactory().createFromUrl(`${server.url}/`);
      await client.sendMessage({
        tenant: "",
        message: { ...server.messages[0]!, messageId: "other", parts: [textPart("Porto")] },
        configuration: undefined,
        metadata: undefined,
      });
      return { content: "Lisbon" };
    },
  });
  expect(messages.map((message) => toText(message))).toEqual(["Porto it is."]);
  expect(server.messages.map(textOf)).toEqual(["Book it.", "Porto"]);
});

test("the agent is a component", () => {
  const registry = new ComponentRegistry().register(...a2aComponents());
  const config = {
    name: "lawyer",
    description: "Knows the law.",
    url: "https://law.example.com/agent",
    headers: { authorization: "Bearer env:LAW_TOKEN" },
    timeout: 60,
    policy: "never",
  };
  const component = { provider: "troupe.agents.A2AAgent", config };
  expect(dumpComponent(registry.load<A2AAgent>(component, "agent"))).toMatchObject(component);
  for (const [change, path] of [
    [{ url: "law.example.com" }, "url"],
    [{ url: "https://user:pass@law.example.com" }, "url"],
    [{ headers: { host: "x" } }, "headers.host"],
  ] as const) {
    const { issues } = registry.inspect({ ...component, config: { ...config, ...change } }) as {
      issues: { path: string }[];
    };
    expect(issues.map((issue) => issue.path)).toEqual([`component.config.${path}`]);
  }
});

test.each([
  ["only other bindings", { supportedInterfaces: [{ url: "x", protocolBinding: "GRPC" }] }, /GRPC/],
  ["version 0.3", { protocolVersion: "0.3.0", url: "https://x.test" }, /names none/],
  ["nothing of the sort", "<html>", /not JSON|names none/],
])("a card with %s is an error that names the fault", async (_, card, message) => {
  const agent = new A2AAgent(
    { name: "remote", url: "https://x.test/card.json" },
    {
      fetch: async (url) => {
        expect(url).toBe("https://x.test/card.json");
        return Response.json(card);
      },
    },
  );
  await expect(run(agent, { task: "Go." })).rejects.toMatchObject({
    code: "a2a_protocol",
    message: expect.stringMatching(message),
  });
});

const MESSAGE = { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "Done." }] } };
const TASK = { id: "t", status: { state: "TASK_STATE_COMPLETED" }, artifacts: null };
const ARTIFACT = { artifactId: "a", parts: [null, { text: "Done." }] };
const CARD = {
  supportedInterfaces: [{ url: "/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
};

/** Cards and replies in which something is odd, and can be understood. */
test.each<[string, object, object]>([
  [
    "a card without anything else, or with null for it",
    { ...CARD, skills: null, capabilities: null },
    MESSAGE,
  ],
  [
    "entries that are not interfaces",
    { supportedInterfaces: [null, "x", ...CARD.supportedInterfaces] },
    MESSAGE,
  ],
  [
    "one interface in place of a list",
    { supportedInterfaces: CARD.supportedInterfaces[0] },
    MESSAGE,
  ],
  [
    "the names of Protocol Buffers",
    {
      supported_interfaces: [{ url: "/a2a", protocol_binding: "JSONRPC", protocol_version: "1.0" }],
    },
    MESSAGE,
  ],
  [
    "another spelling of the binding, a number as version",
    { supportedInterfaces: [{ url: " /a2a ", protocolBinding: "json-rpc", protocolVersion: 1 }] },
    MESSAGE,
  ],
  ["no version", { supportedInterfaces: [{ url: "/a2a", protocolBinding: "JSONRPC" }] }, MESSAGE],
  ["a message without what is around it", CARD, MESSAGE.message],
  ["a task without what is around it", CARD, { ...TASK, artifacts: [ARTIFACT] }],
  [
    "a number as id, and a state in lower case",
    CARD,
    { task: { id: 5, status: { state: "completed" }, artifacts: ["x", ARTIFACT] } },
  ],
])("%s is understood", async (_, card, result) => {
  const posted: unknown[] = [];
  const agent = new A2AAgent(
    { name: "remote", url: "https://x.test/card.json" },
    {
      fetch: async (url, init) => {
        if (init?.method !== "POST") return Response.json(card);
        posted.push(url);
        return Response.json({ jsonrpc: "2.0", id: 1, result });
      },
    },
  );
  const { messages } = await play(agent, "Go.");
  expect(messages.map((message) => toText(message))).toEqual(["Done."]);
  expect(posted[0]).toBe("https://x.test/a2a");
});
