import { createParser } from "eventsource-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssistantAgent, dumpComponent, ReplayChatCompletionClient } from "troupe";
import { type CreateTeam, TroupeClient } from "troupe/client";
import type { Principal } from "#api/auth/principal.ts";
import type { Scope } from "#contract/constants.ts";
import type { Gateway } from "#contract/gateways/team-gateway.ts";
import { ok } from "#contract/result.ts";
import { sha256Hex } from "#core/hash.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { testApp } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";
import { writer } from "../protocols/support/teams.ts";

const TIME = "2026-01-01T00:00:00.000Z";

interface Frame {
  event?: string;
  id?: string;
  data: unknown;
}

const message = (id: string, type: string, more: object): Frame => ({
  id,
  data: {
    id: `m${id}`,
    source: "clerk",
    models_usage: { prompt_tokens: 1, completion_tokens: 1 },
    metadata: { secret: "hidden" },
    created_at: TIME,
    ...more,
    type,
  },
});

let pieces = 0;
const piece = (of: string | null, content: string, source = "clerk"): Frame => ({
  data: {
    id: `${of}:${pieces++}`,
    source,
    models_usage: null,
    metadata: { secret: "hidden" },
    created_at: TIME,
    content,
    full_message_id: of,
    type: "ModelClientStreamingChunkEvent",
  },
});

const activity = (...ids: (string | null)[]): Frame => ({
  event: "activity",
  data: {
    run_id: "r",
    at: TIME,
    steps: ids.map((message_id) => ({ agent: "clerk", name: "hidden", message_id })),
  },
});

/** What a credential with these scopes gets of a team's stream. @param size bytes of each piece in which the frames arrive */
async function shared(
  frames: readonly Frame[],
  scopes: readonly Scope[] = ["conversation:read"],
  size = 1_000,
): Promise<{ frames: Frame[]; text: string }> {
  const sent = frames
    .map(({ event, id, data }) => {
      const name = event === undefined ? "" : `event: ${event}\n`;
      return `${name}${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
    })
    .join(": ping\n\n");
  const bytes = new TextEncoder().encode(sent);
  const body = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
      }
      controller.close();
    },
  });
  const gateway: Gateway = { team: () => ({ stream: async () => ok({ body }) }) as never };
  const principal: Principal = {
    tenant: "a",
    scopes,
    id: "key",
    kind: "static",
    name: null,
    expires_at: null,
  };
  const { fetch } = testApp({ gateway, authenticate: async () => principal });
  const response = await fetch("/v1/teams/t/conversation/events");
  expect(response.status).toBe(200);
  const text = await response.text();
  const shown: Frame[] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) =>
      shown.push({
        ...(event !== undefined && { event }),
        ...(id !== undefined && { id }),
        data: JSON.parse(data) as unknown,
      }),
  });
  parser.feed(text);
  return { frames: shown, text };
}

/** The texts that these frames have shown in the end, by the ids of their messages. */
function textsIn(frames: readonly Frame[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { event, data } of frames) {
    const { full_message_id: id, content } = data as { full_message_id?: string; content: string };
    if (id === undefined) continue;
    if (event === "discard") delete texts[id];
    else texts[id] = event === "snapshot" ? content : (texts[id] ?? "") + content;
  }
  return texts;
}

describe("the stream of a shared conversation", () => {
  const said = [
    { event: "run", data: { id: "r", task: [{ content: "hidden" }], requests: [] } },
    message("1", "TextMessage", { content: "Hello." }),
    message("2", "ThoughtEvent", { content: "hidden" }),
    message("3", "ToolCallRequestEvent", {
      content: [{ id: "c", name: "calculator", arguments: '{"of":"argument"}' }],
    }),
    message("4", "ToolCallExecutionEvent", {
      content: [{ call_id: "c", name: "calculator", is_error: false, content: "outcome" }],
    }),
    message("5", "MemoryQueryEvent", { content: [{ content: "hidden", mime_type: "text/plain" }] }),
    message("6", "MultiModalMessage", {
      content: ["See.", { name: "bill.txt", media_type: "text/plain", data: "attachment" }],
    }),
    { event: "retrying", data: { agent: "clerk", error: { message: "hidden" } } },
    { event: "turn", data: { turn: 1, ledgers: { task: { facts: "hidden" } } } },
    { event: "memory", id: "7", data: { memories: ["hidden"] } },
    { event: "retract", id: "8", data: { message_ids: ["m4"] } },
    { event: "failed", id: "9", data: { detail: "hidden" } },
    { event: "later", data: { of: "hidden" } },
    { event: "caught_up", data: {} },
  ];

  test("contains the list of its messages, and nothing more", async () => {
    const { frames, text } = await shared(said);
    expect(frames.map(({ event = "message", id }) => `${event} ${id}`)).toEqual([
      "message 1",
      "message 3",
      "message 4",
      "message 6",
      "retract 8",
      "caught_up undefined",
    ]);
    expect(frames[0]?.data).toEqual({
      id: "m1",
      source: "clerk",
      models_usage: null,
      metadata: {},
      created_at: TIME,
      content: "Hello.",
      type: "TextMessage",
    });
    for (const hidden of ["hidden", "argument\\", "outcome", "attachment"]) {
      expect(text).not.toContain(hidden);
    }
    expect(text).toContain(": ping\n\n");
  });

  test("contains the parts that were ticked, too", async () => {
    const tools = await shared(said, ["conversation:read", "tools:read"]);
    expect(tools.text).toContain("argument\\");
    expect(tools.text).toContain("outcome");
    const files = await shared(said, ["conversation:read", "files:read"]);
    expect(files.text).toContain("attachment");
    const all = await shared(said, ["teams:read"]);
    expect(all.text).not.toContain("hidden");
  });

  test("shows a text while it is written once it is certain to be an answer", async () => {
    const writing = [piece("a", "One "), activity("a"), piece("a", "two "), piece("a", "three")];
    const { frames } = await shared(writing);
    expect(frames.map(({ event = "message" }) => event)).toEqual([
      "snapshot",
      "message",
      "message",
    ]);
    expect(textsIn(frames)).toEqual({ a: "One two three" });
  });

  test("hides a text that may be a thought before calls of tools, and one without a message", async () => {
    const { text } = await shared([
      activity(null),
      piece("a", "hidden"),
      piece(null, "hidden", "coder"),
      { event: "snapshot", data: { full_message_id: "b", source: "clerk", content: "hidden" } },
      { event: "discard", data: { full_message_id: "b", source: "clerk" } },
      activity(),
      message("1", "ThoughtEvent", { content: "hidden" }),
    ]);
    expect(text).toBe(": ping\n\n".repeat(6) + "retry: 2000\n\n");
  });

  test("removes the thoughts from a text, however it is cut into pieces", async () => {
    const whole = "<think>hidden <b></think>\n\nFirst <thin> <think>hidden</think> second<";
    for (let size = 1; size < 20; size++) {
      const writing = [activity("a")];
      for (let at = 0; at < whole.length; at += size) {
        writing.push(piece("a", whole.slice(at, at + size)));
      }
      const { frames, text } = await shared(writing, undefined, 7);
      expect(text).not.toContain("hidden");
      // What may begin another thought is shown with the message.
      expect(textsIn(frames)).toEqual({ a: "First <thin> second" });
    }
  });

  test("begins a text that is written again, or that a client finds half written, as the server has it", async () => {
    const { frames } = await shared([
      activity("a", "b"),
      piece("a", "void"),
      { event: "discard", data: { full_message_id: "a", source: "clerk" } },
      piece("a", "good"),
      { event: "snapshot", data: { full_message_id: "b", source: "writer", content: "half" } },
      piece("b", " written", "writer"),
    ]);
    expect(textsIn(frames)).toEqual({ a: "good", b: "half written" });
  });
});

describe("a link to a conversation that is being written", () => {
  const TEXT = "One word after the other appears while it is written, and none of them twice.";
  let model: FakeOpenAI;
  let worker: TestWorker;
  let owner: TroupeClient;

  beforeAll(async () => {
    model = await startFakeOpenAI({
      rules: [
        {
          name: "write",
          hold: true,
          hold_after: [0, 10],
          reply: { reasoning: "Hm. So.", content: TEXT },
        },
      ],
    });
    worker = await TestWorker.start({
      TROUPE_OPEN: "",
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: model.url,
      ALLOWED_EGRESS: model.origin,
      SECRETS_KEY: btoa("k".repeat(32)),
      TENANT_STREAMS_PER_CREDENTIAL: "2",
      API_KEYS: JSON.stringify([
        {
          hash: await sha256Hex("owner"),
          tenant: "acme",
          scopes: ["teams:read", "teams:write", "runs:read", "runs:write", "keys:write"],
        },
      ]),
    });
    owner = new TroupeClient({ baseURL: await worker.origin, token: "owner" });
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await model.close();
  });

  const linked = async (id: string): Promise<{ reader: TroupeClient; token: string }> => {
    const { token } = await owner
      .team(id)
      .createToken({ scopes: ["conversation:read"], expires_in: 600 });
    return { reader: new TroupeClient({ baseURL: await worker.origin, token }), token };
  };

  test("shows every text while it is written, also to a reader that connects in the middle", async () => {
    const component = writer() as CreateTeam["component"];
    const team = await owner.teams.create({ component });
    const { reader } = await linked(team.id);
    const shown = reader.team(team.id);
    const deltas: string[] = [];
    let late: Promise<string[]> | undefined;
    const lateTexts = async (): Promise<string[]> => {
      const texts: string[] = [];
      const page = await shown.conversation();
      const after = page.messages.at(-1)?.seq ?? 0;
      for await (const item of shown.conversationEvents({ after })) {
        if (item.kind === "text") texts.push(item.text.content);
        if (texts.length === 1) model.release("write");
        if (item.kind === "message" && item.message.source === "writer") break;
      }
      return texts;
    };
    const items = shown.conversationEvents();
    await team.start("Go.");
    for await (const item of items) {
      expect(["message", "text"]).toContain(item.kind);
      // The task: from here on the stream shows what happens.
      if (item.kind === "message" && item.message.source === "user") {
        await model.held("write");
        model.release("write");
        model.rules.hold("write");
      }
      if (item.kind === "text") deltas.push(item.delta ?? "replaced");
      if (deltas.length === 5) late ??= lateTexts();
      if (item.kind !== "message" || item.message.source !== "writer") continue;
      expect(item.message).toMatchObject({ content: TEXT });
      break;
    }
    expect(deltas.length).toBeGreaterThan(5);
    expect(deltas.join("")).toBe(TEXT);
    const texts = await late;
    expect(texts?.length).toBeGreaterThan(1);
    for (const text of texts ?? []) expect(TEXT.startsWith(text)).toBe(true);
    expect(texts?.at(-1)).toBe(TEXT);
  });

  test("lets readers beyond the limit of streams take turns", async () => {
    const team = await owner.teams.create({
      component: dumpComponent(
        new AssistantAgent({ name: "writer", modelClient: new ReplayChatCompletionClient([]) }),
      ),
    });
    const { token } = await linked(team.id);
    const path = `/v1/teams/${team.id}/conversation/events`;
    const open = () => worker.fetch(path, { headers: { authorization: `Bearer ${token}` } });
    const [first, second, third] = [await open(), await open(), await open()];
    expect((await first.text()).endsWith("retry: 2000\n\n")).toBe(true);
    await second.body?.cancel();
    await third.body?.cancel();
    const none = await worker.fetch("/v1/teams/none/conversation/events", {
      headers: { authorization: "Bearer owner" },
    });
    expect(none.status).toBe(404);
  });
});
