// kill -9 while runs are paused, and while they wait for a human: each client continues as its protocol can.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../../support/http-app.ts";
import { startFakeOpenAI, type FakeOpenAI } from "../../support/fake-openai/server.ts";
import { KillableWorker } from "../../support/killable-worker.ts";
import { request, sent } from "./a2a/support/rpc.ts";
import { HUMAN, inTurn, newTeam, writer } from "./support/teams.ts";

const FIRST = "First words.";
const SECOND = "Second words.";

let fake: FakeOpenAI;
let worker: KillableWorker;

beforeAll(async () => {
  fake = await startFakeOpenAI();
  worker = await KillableWorker.start({ OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: fake.url });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await fake.close();
});

type Event = Record<string, unknown> & { type?: string };

/** A stream of a client, up to its end or to where it broke. */
class Stream {
  #text = "";
  readonly over: Promise<void>;

  private constructor(body: ReadableStream<Uint8Array>) {
    this.over = (async () => {
      for await (const piece of body.pipeThrough(new TextDecoderStream())) this.#text += piece;
    })().catch(() => undefined); // The server was killed.
  }

  static async open(path: string, init?: RequestInit): Promise<Stream> {
    const response = await worker.fetch(path, init);
    if (response.status !== 200 || response.body === null) throw new Error(await response.text());
    return new Stream(response.body);
  }

  get text(): string {
    return this.#text;
  }

  get events(): Event[] {
    return [...this.#text.matchAll(/^data: (\{.*\})$/gm)].map(
      ([, data = ""]) => JSON.parse(data) as Event,
    );
  }

  /** The pieces of texts in events of a type. */
  joined(type: string): string {
    return this.events.flatMap((event) => (event.type === type ? [event["delta"]] : [])).join("");
  }
}

async function latestRun(team: string): Promise<RunInfo> {
  const response = await worker.fetch(`/v1/teams/${team}/runs`);
  const [run] = ((await response.json()) as { runs: RunInfo[] }).runs;
  if (run === undefined) throw new Error(`${team} has no run`);
  return run;
}

const user = { role: "user", content: "Write." };
const a2a = { "a2a-version": "1.0" };

interface Protocol {
  name: string;
  team: string;
  start: () => Promise<Stream>;
  /** How its client comes back after its stream broke, or ended because the run was paused. */
  again: (run: string, before: Stream) => Promise<Stream>;
  /** What it has when its run is paused. */
  paused: string;
  /** What the client has of both, each text as often as it has it. */
  texts: (before: Stream, after: Stream) => string[];
  /** What it is to have. */
  expected: string[];
  end: RegExp;
}

const agUi = () =>
  jsonInit({
    threadId: "thread",
    runId: crypto.randomUUID(),
    protocolVersion: "1.0",
    messages: [{ id: "m", ...user }],
  });

const protocols: Protocol[] = [
  {
    name: "AG-UI",
    paused: "words.",
    expected: [FIRST, SECOND],
    team: "ag-ui",
    start: () => Stream.open("/ag-ui/teams/ag-ui", agUi()),
    again: () => Stream.open("/ag-ui/teams/ag-ui", agUi()),
    texts: (_before, after) => {
      const snapshot = after.events.find(({ type }) => type === "MESSAGES_SNAPSHOT");
      const messages = (snapshot?.["messages"] ?? []) as { role: string; content: string }[];
      const said = messages.flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
      return [...said, after.joined("TEXT_MESSAGE_CONTENT")];
    },
    end: /"type":"RUN_FINISHED"/,
  },
  {
    name: "the AI SDK",
    paused: "words.",
    expected: [FIRST + SECOND],
    team: "ai-sdk",
    start: () =>
      Stream.open(
        "/ai-sdk/teams/ai-sdk/chat",
        jsonInit({
          id: "chat",
          messages: [{ id: "m", role: "user", parts: [{ type: "text", text: user.content }] }],
        }),
      ),
    again: () => Stream.open("/ai-sdk/teams/ai-sdk/chat/chat/stream"),
    // The client begins the message once more.
    texts: (_before, after) => [after.joined("text-delta")],
    end: /\[DONE\]/,
  },
  {
    name: "A2A",
    paused: "words.",
    expected: [FIRST, SECOND],
    team: "a2a",
    start: () =>
      Stream.open(
        "/a2a/teams/a2a",
        jsonInit(
          request("SendStreamingMessage", sent(user.content, { contextId: "a2a" })),
          "POST",
          a2a,
        ),
      ),
    again: (run) =>
      Stream.open("/a2a/teams/a2a", jsonInit(request("SubscribeToTask", { id: run }), "POST", a2a)),
    texts: (_before, after) => {
      const results = after.events.map(
        ({ result }) =>
          result as {
            statusUpdate?: { status: { message?: { parts: { text: string }[] } } };
            artifactUpdate?: { append?: boolean; artifact: { parts: { text: string }[] } };
          },
      );
      let artifact = "";
      const said: string[] = [];
      for (const { statusUpdate, artifactUpdate } of results) {
        const { message } = statusUpdate?.status ?? {};
        if (message) said.push(message.parts.map(({ text }) => text).join(""));
        if (!artifactUpdate) continue;
        const text = artifactUpdate.artifact.parts.map((part) => part.text).join("");
        artifact = artifactUpdate.append ? artifact + text : text;
      }
      return [...said, artifact];
    },
    end: /TASK_STATE_COMPLETED/,
  },
  {
    name: "OpenAI's responses",
    // The stream ends with it. The answer is what the last agent says.
    paused: "run_paused",
    expected: ["", SECOND],
    team: "openai",
    start: () =>
      Stream.open(
        "/openai/v1/responses",
        jsonInit({ model: "team:openai", stream: true, input: user.content }),
      ),
    again: (_run, before) => {
      const [, id = ""] = /"response":\{"id":"([^"]+)"/.exec(before.text) ?? [];
      const last = before.events.findLast(({ type }) => type !== "error");
      const after = String(last?.["sequence_number"]);
      return Stream.open(`/openai/v1/responses/${id}?stream=true&starting_after=${after}`);
    },
    texts: (before, after) => [
      before.joined("response.output_text.delta"),
      after.joined("response.output_text.delta"),
    ],
    end: /event: response\.completed/,
  },
];

test("a paused run continues for each client after kill -9, with nothing lost or twice", async () => {
  fake.rules.set([
    { name: "first", times: protocols.length, hold: true, reply: { content: FIRST } },
    { name: "second", reply: { content: SECOND } },
  ]);
  const component = inTurn(writer(), writer({ name: "editor" }));
  const begun = new Map<Protocol, { stream: Stream; run: string }>();
  for (const protocol of protocols) {
    await newTeam(worker, { id: protocol.team, component });
    const stream = await protocol.start();
    await expect.poll(() => fake.requests.length).toBe(begun.size + 1);
    const { id: run } = await latestRun(protocol.team);
    begun.set(protocol, { stream, run });
    const paused = await worker.fetch(`/v1/teams/${protocol.team}/runs/${run}/pause`, jsonInit({}));
    expect(paused.ok).toBe(true);
  }
  fake.release("first");
  const statuses = async (): Promise<string[]> =>
    Promise.all(protocols.map(async ({ team }) => (await latestRun(team)).status));
  await expect.poll(statuses).toEqual(protocols.map(() => "paused"));
  for (const [{ paused }, { stream }] of begun) {
    await expect.poll(() => stream.text).toContain(paused);
  }
  await worker.kill();
  await Promise.all([...begun.values()].map(({ stream }) => stream.over));

  await worker.restart();
  expect(await statuses()).toEqual(protocols.map(() => "paused"));
  for (const [protocol, { stream: before, run }] of begun) {
    const { name, team, expected } = protocol;
    const resume = (): Promise<Response> =>
      worker.fetch(`/v1/teams/${team}/runs/${run}/resume`, jsonInit({}));
    // The stream of a response that is opened before would say that the run is paused, and end.
    const resumesFirst = protocol.paused === "run_paused";
    if (resumesFirst) expect((await resume()).ok).toBe(true);
    const after = await protocol.again(run, before);
    if (!resumesFirst) expect((await resume()).ok).toBe(true);
    await after.over;
    expect(after.text, name).toMatch(protocol.end);
    expect(protocol.texts(before, after), name).toEqual(expected);
  }
});

test("a task that waits for a human continues for its subscriber after kill -9", async () => {
  await newTeam(worker, { id: "asking", component: inTurn(HUMAN) });
  const started = await worker.fetch("/v1/teams/asking/runs", jsonInit({ task: "Ask." }));
  const { id } = (await started.json()) as RunInfo;
  const subscribe = (): Promise<Stream> =>
    Stream.open("/a2a/teams/asking", jsonInit(request("SubscribeToTask", { id }), "POST", a2a));
  const before = await subscribe();
  await expect.poll(() => before.text).toContain("TASK_STATE_INPUT_REQUIRED");
  await worker.kill();
  await before.over;
  await worker.restart();
  const after = await subscribe();
  await expect.poll(() => after.text).toContain("TASK_STATE_INPUT_REQUIRED");
  const [question] = (await latestRun("asking")).requests;
  await worker.fetch(
    `/v1/teams/asking/runs/${id}/requests/${question?.id}`,
    jsonInit({ content: "Lyon" }),
  );
  await after.over;
  const asked = (text: string): number => text.match(/TASK_STATE_INPUT_REQUIRED/g)?.length ?? 0;
  expect(asked(after.text)).toBe(asked(before.text));
  expect(after.text.match(/TASK_STATE_COMPLETED/g)).toHaveLength(1);
});
