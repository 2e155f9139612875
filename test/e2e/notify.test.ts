import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { FakeSlack } from "../support/fake-receivers/slack.ts";
import { FakeTelegram } from "../support/fake-receivers/telegram.ts";
import { jsonInit } from "../support/http-app.ts";
import { PATIENCE } from "../support/patience.ts";
import { ASKING_COMPONENT, SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { TestWorker } from "../support/worker.ts";

const MASK = "**********";

let worker: TestWorker;
let slack: FakeSlack;
let telegram: FakeTelegram;
let receiver: WebhookReceiver;
let team: string;
let count = 0;

beforeAll(async () => {
  [slack, telegram, receiver] = await Promise.all([
    FakeSlack.start(),
    FakeTelegram.start(),
    WebhookReceiver.start(),
  ]);
  worker = await TestWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    TELEGRAM_API_URL: telegram.origin,
  });
});

afterAll(() =>
  Promise.all([worker, slack, telegram, receiver].map((one) => one[Symbol.asyncDispose]())),
);

beforeEach(() => {
  team = `told-${++count}`;
  slack.accepted.length = 0;
  slack.refused.length = 0;
  telegram.accepted.length = 0;
  telegram.refused.length = 0;
  receiver.reset();
});

// oxlint-disable-next-line typescript/no-explicit-any -- answers are compared with what is expected
type Body = any;

interface Answer {
  status: number;
  body: Body;
}

async function send(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await worker.fetch(
    path,
    body === undefined ? { method } : jsonInit(body, method),
  );
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

const makeTeam = (component: object = ASKING_COMPONENT): Promise<Answer> =>
  send("POST", "/v1/teams", { id: team, component, label: "Desk <1> & Co" });
const start = async (task = "Go."): Promise<string> =>
  (await send("POST", `/v1/teams/${team}/runs`, { task })).body.id;
const putNotify = (notify: object[]): Promise<Answer> =>
  send("PUT", `/v1/teams/${team}/notify`, { notify });
const deliveries = async (): Promise<Body[]> =>
  (await send("GET", "/v1/webhooks/default/deliveries?limit=100")).body.deliveries.filter(
    ({ team_id }: { team_id: string }) => team_id === team,
  );

function linkIn(text: string): string {
  const [found = ""] = /http[^\s|>"]+\/v1\/answer\?ticket=[\w.-]+/.exec(text) ?? [];
  const { pathname, search } = new URL(found);
  return pathname + search;
}

test("each receiver gets a question in its own format, and their secrets are shown nowhere", async () => {
  await makeTeam();
  const stored = await putNotify([
    { kind: "slack", url: slack.url, on: ["request.created"] },
    { kind: "telegram", token: telegram.token, chat: telegram.chat, on: ["request.created"] },
    { kind: "webhook", url: receiver.url("/hidden-path"), on: ["request.created"] },
  ]);
  expect(stored.status).toBe(200);
  expect(stored.body.notify).toEqual([
    {
      id: expect.any(String),
      kind: "slack",
      url: `${new URL(slack.url).origin}/${MASK}`,
      on: ["request.created"],
    },
    {
      id: expect.any(String),
      kind: "telegram",
      token: MASK,
      chat: telegram.chat,
      on: ["request.created"],
    },
    {
      id: expect.any(String),
      kind: "webhook",
      url: `${new URL(receiver.url()).origin}/${MASK}`,
      on: ["request.created"],
    },
  ]);
  await start("Say <b>hello</b> & *bye* <!channel>");
  const [message] = await vi.waitUntil(() => slack.accepted.length > 0 && slack.accepted, PATIENCE);
  await vi.waitUntil(() => telegram.accepted.length > 0, PATIENCE);
  const { secret } = (await send("GET", "/v1/webhooks/default/secret")).body;
  const [event] = await receiver.events(secret, 1, "/hidden-path");
  expect(JSON.stringify(message)).toContain("&lt;!channel&gt;");
  expect(message?.blocks[0]?.text?.text).toContain("Desk <1> & Co: human asks a question");
  expect(telegram.accepted[0]?.text).toContain(
    "<b>Desk &lt;1&gt; &amp; Co: human asks a question</b>",
  );
  expect(event?.type).toBe("request.created");
  expect(event?.data["answer_url"]).toMatch(/\/v1\/answer\?ticket=/);
  expect(slack.refused).toEqual([]);
  expect(telegram.refused).toEqual([]);
  const listed = await vi.waitUntil(async () => {
    const all = await deliveries();
    return all.every(({ status }) => status === "delivered") && all;
  }, PATIENCE);
  expect(listed.map((one) => String(one.receiver.kind)).toSorted()).toEqual([
    "slack",
    "telegram",
    "webhook",
  ]);
  const shown = JSON.stringify([listed, stored, await send("GET", `/v1/teams/${team}/notify`)]);
  for (const hidden of ["wOrDsThatNobodyKnows", "tokenThatNobodyKnows", "hidden-path"]) {
    expect(shown).not.toContain(hidden);
  }
});

test("a link shows the question, changes nothing until its form is sent, answers once, and says then what happened", async () => {
  await makeTeam();
  await putNotify([{ kind: "slack", url: slack.url, on: ["request.created"] }]);
  const run = await start();
  await vi.waitUntil(() => slack.accepted.length > 0, PATIENCE);
  const link = linkIn(JSON.stringify(slack.accepted[0]));
  const [token] = (await send("GET", `/v1/teams/${team}/tokens`)).body.tokens;
  const [request] = (await send("GET", `/v1/teams/${team}/runs/${run}/requests`)).body.requests;
  expect(token).toMatchObject({ kind: "link", request_id: request.id, made_by: "local" });

  const page = await worker.fetch(link);
  expect(page.status).toBe(200);
  const headers = Object.fromEntries(page.headers);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "no-store",
  });
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  const html = await page.text();
  expect(html).toContain('<form method="post">');
  expect(html).not.toContain("<script");
  await worker.fetch(link, { method: "HEAD" });
  expect((await send("GET", `/v1/teams/${team}/runs/${run}`)).body.status).toBe("waiting");

  const bare = await worker.fetch(`/v1/teams/${team}`, {
    headers: { authorization: `Bearer ${new URL(link, "http://a").searchParams.get("ticket")}` },
  });
  expect(bare.status).toBe(200);
  const empty = await worker.fetch(link, {
    method: "POST",
    body: new URLSearchParams({ content: " " }),
  });
  expect(empty.status).toBe(422);
  const form = new URLSearchParams({ content: "By <link>." });
  const answered = await worker.fetch(link, {
    method: "POST",
    body: form,
    headers: { origin: "null", "sec-fetch-site": "same-origin" },
  });
  expect(answered.status).toBe(200);
  expect(await answered.text()).toContain("Answered");
  const asked = await send("GET", `/v1/teams/${team}/runs/${run}/requests/${request.id}`);
  const { host } = new URL(slack.url);
  expect(asked.body).toMatchObject({
    status: "answered",
    answer: { content: "By <link>." },
    answered_by: `by link (Slack ${host})`,
  });
  for (const init of [{}, { method: "POST", body: form }]) {
    const again = await worker.fetch(link, init);
    expect(again.status).toBe(410);
    expect(await again.text()).toContain(`by link (Slack ${host})`);
  }
  await vi.waitUntil(async () => {
    const { tokens } = (await send("GET", `/v1/teams/${team}/tokens`)).body;
    return tokens.every(({ id }: { id: string }) => id !== token.id);
  }, PATIENCE);
});

test("a link ends when it is revoked, with its run, and with its team", async () => {
  await makeTeam();
  await putNotify([{ kind: "slack", url: slack.url, on: ["request.created"] }]);
  const asked = async (): Promise<{ run: string; link: string }> => {
    const before = slack.accepted.length;
    const run = await start();
    await vi.waitUntil(() => slack.accepted.length > before, PATIENCE);
    return { run, link: linkIn(JSON.stringify(slack.accepted.at(-1))) };
  };
  const first = await asked();
  const [{ id }] = (await send("GET", `/v1/teams/${team}/tokens`)).body.tokens;
  expect((await send("DELETE", `/v1/teams/${team}/tokens/${id}`)).status).toBe(204);
  const revoked = await worker.fetch(first.link, {
    method: "POST",
    body: new URLSearchParams({ content: "x" }),
  });
  expect(revoked.status).toBe(410);
  expect(await revoked.text()).toContain("revoked");
  await send("POST", `/v1/teams/${team}/runs/${first.run}/stop`, { mode: "now" });
  const second = await asked();
  await send("POST", `/v1/teams/${team}/runs/${second.run}/stop`, { mode: "now" });
  const stopped = await worker.fetch(second.link);
  expect(stopped.status).toBe(410);
  expect(await stopped.text()).toContain("cancelled");
  const third = await asked();
  await send("DELETE", `/v1/teams/${team}`);
  const deleted = await worker.fetch(third.link);
  expect(deleted.status).toBe(410);
  expect(await deleted.text()).toContain("The team was deleted");
  await makeTeam();
  expect((await send("GET", `/v1/teams/${team}/notify`)).body.notify).toEqual([]);
});

test("refusals of Slack and Telegram are understood: a wait is kept, and what never works is not tried again", async () => {
  await makeTeam(SAMPLE_COMPONENT);
  const on = ["run.completed"];
  await putNotify([
    { kind: "slack", url: slack.url, on },
    { kind: "telegram", token: telegram.token, chat: telegram.chat, on },
  ]);
  slack.next.push((response) => response.writeHead(200).end("invalid_token"));
  telegram.next.push({
    error_code: 429,
    description: "Too Many Requests: retry after 120",
    parameters: { retry_after: 120 },
  });
  await start();
  const listed = await vi.waitUntil(async () => {
    const all = await deliveries();
    return all.length === 2 && all.every(({ attempts }) => attempts === 1) && all;
  }, PATIENCE);
  const [toSlack, toTelegram] = ["slack", "telegram"].map((kind) =>
    listed.find((one) => one.receiver.kind === kind),
  );
  expect(toSlack).toMatchObject({
    status: "failed",
    last_attempt: { error: "Slack refused the message: invalid_token." },
  });
  expect(toTelegram).toMatchObject({ status: "pending", last_attempt: { status: 429 } });
  const waits = Date.parse(toTelegram.next_attempt_at) - Date.parse(toTelegram.created_at);
  expect(waits).toBeGreaterThan(100_000);
  const { states } = (await send("GET", `/v1/teams/${team}/notify`)).body;
  expect(states).toMatchObject([
    { disabled_reason: "Slack refused the message: invalid_token." },
    { disabled_reason: null },
  ]);
});

test("long texts of any characters stay within the limits of Slack and Telegram", async () => {
  await makeTeam(SAMPLE_COMPONENT);
  const on = ["run.completed", "message"];
  await putNotify([
    { kind: "slack", url: slack.url, on },
    { kind: "telegram", token: telegram.token, chat: telegram.chat, on },
  ]);
  await start("<&>😀".repeat(4_000));
  const listed = await vi.waitUntil(async () => {
    const all = await deliveries();
    return all.length === 10 && all.every(({ status }) => status !== "pending") && all;
  }, PATIENCE);
  expect(listed.map(({ status }) => status)).not.toContain("failed");
});

test("a masked secret stays for the same receiver only, and a list without it forgets the rest", async () => {
  await makeTeam();
  const on = ["run.failed"];
  const given = [
    { kind: "slack", url: slack.url, on },
    { kind: "telegram", token: telegram.token, chat: telegram.chat, on },
  ];
  const { notify } = (await putNotify(given)).body;
  const again = await putNotify(notify);
  expect(again.status).toBe(200);
  expect(again.body.notify).toEqual(notify);
  const moved = await putNotify([{ ...notify[1], chat: "-42" }]);
  expect(moved).toMatchObject({
    status: 422,
    body: { code: "invalid_request", errors: [{ path: "notify[0].token" }] },
  });
  const otherHost = await putNotify([{ ...notify[0], url: `https://example.com/${MASK}` }]);
  expect(otherHost).toMatchObject({ status: 422, body: { errors: [{ path: "notify[0].url" }] } });
  expect((await putNotify([{ kind: "slack", url: MASK, on: ["message"] }])).status).toBe(200);
  const without = await putNotify([{ kind: "telegram", token: MASK, chat: telegram.chat }]);
  expect(without.status).toBe(422);
  expect((await send("GET", `/v1/teams/${team}/notify`)).body.notify).toHaveLength(1);
});

test("bad receivers are refused with the field and what is allowed", async () => {
  await makeTeam();
  const refusals: [object, string, RegExp][] = [
    [{ kind: "fax" }, "notify[0].kind", /slack/],
    [{ kind: "slack", url: "ftp://a" }, "notify[0].url", /https/],
    [{ kind: "slack", url: slack.url, on: [] }, "notify[0].on", /at least one/],
    [{ kind: "slack", url: slack.url, on: ["x"] }, "notify[0].on[0]", /run.completed/],
    [{ kind: "telegram", token: "a/b", chat: "1" }, "notify[0].token", /BotFather/],
    [{ kind: "telegram", token: "1:a", chat: "a b" }, "notify[0].chat", /chat/],
    [{ kind: "email", to: "Ada <ada@example.com>" }, "notify[0].to", /one e-mail address/],
    [{ kind: "email", to: "ada@example.com" }, "notify[0].to", /SEND_EMAIL/],
    [{ kind: "webhook", url: "http://10.0.0.1/x#y" }, "notify[0].url", /fragment/],
  ];
  for (const [given, path, message] of refusals) {
    const refused = await putNotify([given]);
    expect(refused.status, JSON.stringify(given)).toBe(422);
    expect(refused.body.errors[0].path).toBe(path);
    expect(refused.body.errors[0].message).toMatch(message);
  }
  expect(
    (await putNotify(Array.from({ length: 11 }, () => ({ kind: "slack", url: slack.url })))).status,
  ).toBe(422);
  expect((await send("PUT", "/v1/teams/none/notify", { notify: [] })).status).toBe(404);
});

test("a schedule's receivers get messages about its runs only", async () => {
  await makeTeam(SAMPLE_COMPONENT);
  const created = await send("POST", `/v1/teams/${team}/schedules`, {
    id: "nightly",
    cron: "0 3 * * *",
    task: "Go.",
    notify: [{ kind: "slack", url: slack.url, on: ["run.completed"] }],
  });
  expect(created.status).toBe(201);
  expect(created.body.notify).toMatchObject([{ kind: "slack", on: ["run.completed"] }]);
  const changed = await send("PATCH", `/v1/teams/${team}/schedules/nightly`, {
    notify: created.body.notify,
  });
  expect(changed.body.notify).toEqual(created.body.notify);
  await start("Not of the schedule.");
  await vi.waitUntil(
    async () => (await send("GET", `/v1/teams/${team}`)).body.status === "idle",
    PATIENCE,
  );
  await send("POST", `/v1/teams/${team}/schedules/nightly/run_now`);
  await vi.waitUntil(() => slack.accepted.length > 0, PATIENCE);
  expect(slack.accepted).toHaveLength(1);
  expect(JSON.stringify(await send("GET", `/v1/teams/${team}/schedules`))).not.toContain("wOrDs");
});
