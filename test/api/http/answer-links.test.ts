import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { calling, expression } from "../protocols/ag-ui/support/components.ts";
import { jsonInit } from "../../support/http-app.ts";
import { PATIENCE } from "../../support/patience.ts";
import { ASKING_COMPONENT } from "../../support/sample-component.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { TestWorker } from "../../support/worker.ts";

const KEY = "owner-secret";
const WRITER = "writer-secret";

let worker: TestWorker;
let receiver: WebhookReceiver;
let team: string;
let count = 0;

// A deployed server: each request to its API needs a key.
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(KEY), tenant: "acme", scopes: SCOPES, name: "owner" },
      { hash: await sha256Hex(WRITER), tenant: "acme", scopes: ["teams:write"], name: "writer" },
    ]),
    ALLOWED_EGRESS: new URL(receiver.url()).origin,
    TENANT_REQUESTS_PER_SECOND: "1000",
    REFUSALS_PER_MINUTE: "200",
  });
});

afterAll(() => Promise.all([worker, receiver].map((one) => one[Symbol.asyncDispose]())));

beforeEach(() => {
  team = `asked-${++count}`;
  receiver.reset();
});

// oxlint-disable-next-line typescript/no-explicit-any -- answers are compared with what is expected
type Body = any;

async function send(method: string, path: string, body?: unknown, key = KEY): Promise<Body> {
  const init: RequestInit = body === undefined ? { method } : jsonInit(body, method);
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  const response = await worker.fetch(path, { ...init, headers });
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return text === "" ? null : JSON.parse(text);
}

/** A clerk whose calculator runs only after an approval. */
function clerk(approval: unknown): object {
  const model_info = {
    vision: false,
    function_calling: true,
    json_output: false,
    structured_output: false,
    family: "unknown",
  };
  const tools = [{ provider: "FunctionTool", config: { name: "calculator", approval } }];
  const config = {
    name: "clerk",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: [calling(expression("c", "1 + 1"))], cycle: true, model_info },
    },
    workbench: [{ provider: "autogen_core.tools.StaticWorkbench", config: { tools } }],
  };
  const participants = [{ provider: "autogen_agentchat.agents.AssistantAgent", config }];
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: { participants, max_turns: 1 },
  };
}

interface Asked {
  /** The path of the run. */
  run: string;
  request: string;
  /** The path of the link; undefined where the message has none. */
  link: string | undefined;
}

/** A run whose question was sent to the receiver. */
async function asked(component: object, key = KEY): Promise<Asked> {
  await send("POST", "/v1/teams", { id: team, component });
  const notify = [{ kind: "webhook", url: receiver.url(), on: ["request.created"] }];
  await send("PUT", `/v1/teams/${team}/notify`, { notify }, key);
  const { id } = await send("POST", `/v1/teams/${team}/runs`, { task: "Go." });
  const { secret } = await send("GET", "/v1/webhooks/default/secret");
  const [event] = await receiver.events(secret, 1);
  const { answer_url: url, id: request } = (event as Body).data;
  const address = url === undefined ? undefined : new URL(url);
  const link = address && `${address.pathname}${address.search}`;
  return { run: `/v1/teams/${team}/runs/${id}`, request, link };
}

/** Sends the form of a link's page as a browser does, without any credential. */
async function post(
  link: string | undefined,
  fields: Record<string, string>,
): Promise<{ status: number; page: string }> {
  const response = await worker.fetch(link ?? "", {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { origin: "null", "sec-fetch-site": "same-origin" },
  });
  return { status: response.status, page: await response.text() };
}

async function open(link: string | undefined): Promise<{ status: number; page: string }> {
  const response = await worker.fetch(link ?? "");
  return { status: response.status, page: await response.text() };
}

const requestOf = ({ run, request }: Asked): Promise<Body> =>
  send("GET", `${run}/requests/${request}`);

describe("a link", () => {
  test.for([
    ["approves", "true", "Approved", "completed"],
    ["refuses", "false", "Refused", "completed"],
  ] as const)("%s a call without a key, once", async ([, approved, title, status]) => {
    const question = await asked(clerk("human"));
    const shown = await open(question.link);
    expect(shown.status).toBe(200);
    expect(shown.page).toContain("calculator");
    expect(shown.page).toContain("1 + 1");
    expect((await post(question.link, { reason: "No button." })).status).toBe(422);
    const given = await post(question.link, { approved, reason: "As <agreed>." });
    expect(given).toMatchObject({ status: 200, page: expect.stringContaining(title) });
    expect(await requestOf(question)).toMatchObject({
      status: "answered",
      answer: { approved: approved === "true", reason: "As <agreed>." },
      answered_by: `by link (webhook ${new URL(receiver.url()).host})`,
    });
    const other = { approved: approved === "true" ? "false" : "true" };
    const again = await post(question.link, other);
    expect(again).toMatchObject({
      status: 410,
      page: expect.stringContaining("Already answered"),
    });
    expect((await requestOf(question)).answer.approved).toBe(approved === "true");
    await vi.waitUntil(async () => (await send("GET", question.run)).status === status, PATIENCE);
  });

  test("changes nothing when it is opened, and is not a credential of the API", async () => {
    const question = await asked(ASKING_COMPONENT);
    const before = await requestOf(question);
    for (const method of ["GET", "HEAD", "OPTIONS", "GET"]) {
      await (await worker.fetch(question.link ?? "", { method })).body?.cancel();
    }
    expect(await requestOf(question)).toEqual(before);
    const ticket = new URLSearchParams(question.link?.split("?")[1]).get("ticket");
    for (const path of [`/v1/teams/${team}`, `${question.run}/requests`]) {
      const headers = { authorization: `Bearer ${ticket}` };
      for (const response of [
        await worker.fetch(path, { headers }),
        await worker.fetch(`${path}?ticket=${ticket}`),
      ]) {
        expect(response.status, path).toBe(401);
        await response.body?.cancel();
      }
    }
  });

  test("answers no other question, whatever its address is changed to", async () => {
    const first = await asked(ASKING_COMPONENT);
    team = `${team}-other`;
    receiver.reset();
    const second = await asked(ASKING_COMPONENT);
    const [payloads, macs] = [0, 1].map((part) =>
      [first, second].map(({ link }) => link?.split("ticket=")[1]?.split(".")[part] ?? ""),
    );
    const named = Buffer.from(payloads?.[0] ?? "", "base64url").toString();
    const moved = named.replace(first.request, second.request);
    expect(moved).not.toBe(named);
    for (const ticket of [
      `${payloads?.[1]}.${macs?.[0]}`,
      `${Buffer.from(moved).toString("base64url")}.${macs?.[0]}`,
      `${payloads?.[0]}.`,
      payloads?.[0],
    ]) {
      const refused = await post(`/v1/answer?ticket=${ticket}`, { content: "x" });
      expect(refused, ticket).toMatchObject({ status: 404 });
    }
    expect((await post(first.link, { content: "Yes." })).status).toBe(200);
    expect(await requestOf(second)).toMatchObject({ status: "open" });
  });

  test("takes no form of another site", async () => {
    const question = await asked(ASKING_COMPONENT);
    const response = await worker.fetch(question.link ?? "", {
      method: "POST",
      body: new URLSearchParams({ content: "x" }),
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    });
    expect(response.status).toBe(403);
    await response.body?.cancel();
    expect(await requestOf(question)).toMatchObject({ status: "open" });
  });

  test("ends when its question has expired", async () => {
    const participants = [
      {
        provider: "autogen_agentchat.agents.UserProxyAgent",
        config: {
          name: "human",
          description: "A human.",
          timeout_seconds: 2,
          default_answer: "Nothing.",
        },
      },
    ];
    const question = await asked({
      provider: "autogen_agentchat.teams.RoundRobinGroupChat",
      config: { participants, max_turns: 1 },
    });
    await vi.waitUntil(
      async () => (await send("GET", question.run)).status === "completed",
      PATIENCE,
    );
    const late = { status: 410, page: expect.stringContaining("Too late") };
    expect(await open(question.link)).toMatchObject(late);
    expect(await post(question.link, { content: "x" })).toMatchObject(late);
    expect((await requestOf(question)).answer).toEqual({ content: "Nothing." });
  });

  test("ends when it is revoked, and its question stays open", async () => {
    const question = await asked(ASKING_COMPONENT);
    const { tokens } = await send("GET", `/v1/teams/${team}/tokens`);
    const [{ id, request_id, made_by }] = tokens;
    expect({ request_id, made_by }).toEqual({ request_id: question.request, made_by: "owner" });
    await send("DELETE", `/v1/teams/${team}/tokens/${id}`);
    const revoked = { status: 410, page: expect.stringContaining("revoked") };
    expect(await open(question.link)).toMatchObject(revoked);
    expect(await post(question.link, { content: "x" })).toMatchObject(revoked);
    expect(await requestOf(question)).toMatchObject({ status: "open" });
  });

  test("ends with its run", async () => {
    const question = await asked(ASKING_COMPONENT);
    await send("POST", `${question.run}/stop`, { mode: "now" });
    await vi.waitUntil(
      async () => (await send("GET", question.run)).status === "cancelled",
      PATIENCE,
    );
    for (const { status } of [
      await open(question.link),
      await post(question.link, { content: "x" }),
    ]) {
      expect(status).toBe(410);
    }
  });
});

describe("a message", () => {
  test.for([
    ["named scopes", { by: ["approvals:finance"] }],
    ["named users", { by: ["user:anna"] }],
    ["several people", { quorum: 2 }],
  ] as const)("a rule that leaves the call to %s gives no link", async ([, rule]) => {
    const question = await asked(clerk(rule));
    expect(question.link).toBeUndefined();
    expect((await send("GET", `/v1/teams/${team}/tokens`)).tokens).toEqual([]);
    expect(await requestOf(question)).toMatchObject({ status: "open" });
  });

  test("a key that may not answer gives no link to the receivers that it names", async () => {
    expect((await asked(ASKING_COMPONENT, WRITER)).link).toBeUndefined();
    const { states } = await send("GET", `/v1/teams/${team}/notify`);
    expect(states).toMatchObject([{ links: false }]);
  });

  test("a rule that names no people gives a link, which stores no approval", async () => {
    const rule = { when: [{ argument: "expression", matches: "1" }], remember: "run" };
    const question = await asked(clerk(rule));
    expect((await post(question.link, { approved: "true" })).status).toBe(200);
    expect((await send("GET", `/v1/teams/${team}/approvals`)).approvals).toEqual([]);
  });
});
