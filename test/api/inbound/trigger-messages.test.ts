import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { ShownReceiver } from "#contract/notify.ts";
import { FakeSlack } from "../../support/fake-receivers/slack.ts";
import { jsonInit } from "../../support/http-app.ts";
import { PATIENCE } from "../../support/patience.ts";
import { ASKING_COMPONENT } from "../../support/sample-component.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { TestWorker } from "../../support/worker.ts";
import { signed, TriggeredTeam } from "./support.ts";

let worker: TestWorker;
let receiver: WebhookReceiver;
let slack: FakeSlack;

beforeAll(async () => {
  [receiver, slack] = await Promise.all([WebhookReceiver.start(), FakeSlack.start()]);
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(() => Promise.all([worker, receiver, slack].map((one) => one[Symbol.asyncDispose]())));

beforeEach(() => {
  receiver.reset();
  slack.accepted.length = 0;
});

test("a trigger's receivers get messages about the runs that it starts, and about no others", async () => {
  const team = await TriggeredTeam.create(worker);
  const { secret = "" } = await team.put("orders", {
    kind: "plain",
    notify: [{ kind: "webhook", url: receiver.url("/orders"), on: ["run.completed"] }],
  });
  const own = await team.json<{ id: string }>("POST", `/v1/teams/${team.id}/runs?wait=30`, {
    task: "Not of the trigger.",
  });
  const sent = await team.send("orders", signed.plain(secret, { order: 1 }));
  expect(sent.status).toBe(202);
  const { run } = (await sent.json()) as { run: string };
  const signing = await team.json<{ secret: string }>("GET", "/v1/webhooks/default/secret");
  const events = await receiver.events(signing.secret, 1, "/orders");
  expect(run).not.toBe(own.id);
  expect(events).toMatchObject([{ type: "run.completed", data: { id: run } }]);
  expect(receiver.received).toHaveLength(1);
});

test("a trigger's message about a question has a link that answers without a credential", async () => {
  const team = await TriggeredTeam.create(worker, { component: ASKING_COMPONENT });
  const { secret = "" } = await team.put("orders", {
    kind: "plain",
    notify: [{ kind: "slack", url: slack.url, on: ["request.created"] }],
  });
  const sent = await team.send("orders", signed.plain(secret, { order: 1 }));
  await sent.body?.cancel();
  await vi.waitUntil(() => slack.accepted.length > 0, PATIENCE);
  const [found = ""] =
    /http[^\s|>"]+\/v1\/answer\?ticket=[\w.-]+/.exec(JSON.stringify(slack.accepted[0])) ?? [];
  const { pathname, search } = new URL(found);
  const body = new URLSearchParams({ content: "Send it." });
  const answered = await worker.fetch(pathname + search, { method: "POST", body });
  expect(answered.status).toBe(200);
  await answered.body?.cancel();
  const path = `/v1/teams/${team.id}/messages`;
  const { messages } = await team.json<{ messages: object[] }>("GET", path);
  expect(messages).toContainEqual(
    expect.objectContaining({ source: "human", content: "Send it." }),
  );
});

test("a trigger shows its receivers without their secrets, keeps them without the field, and drops them with an empty list", async () => {
  const team = await TriggeredTeam.create(worker);
  interface Shown {
    notify?: ShownReceiver[];
  }
  const put = async (notify?: object[]): Promise<Shown> => {
    const input = { kind: "plain", task: "Go.", ...(notify && { notify }) };
    return team.json<Shown>("PUT", team.path("orders"), input);
  };
  const { notify: shown = [] } = await put([{ kind: "slack", url: slack.url }]);
  expect(shown).toMatchObject([{ kind: "slack", url: `${new URL(slack.url).origin}/**********` }]);
  expect((await put()).notify).toEqual(shown);
  expect((await put(shown)).notify).toEqual(shown);
  expect(JSON.stringify(await team.json("GET", team.path()))).not.toContain("wOrDs");
  expect((await put([])).notify ?? []).toEqual([]);
  const refused = await worker.fetch(
    team.path("orders"),
    jsonInit({ kind: "plain", task: "Go.", notify: [{ kind: "fax" }] }, "PUT"),
  );
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ errors: [{ path: "notify[0].kind" }] });
});
