import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { WebhookDelivery, WebhookTest } from "#contract/webhook.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { TestWorker } from "../../../support/worker.ts";
import { PATIENCE } from "../../../support/patience.ts";

const HUMAN = {
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  config: {
    max_turns: 1,
    participants: [
      {
        provider: "autogen_agentchat.agents.UserProxyAgent",
        config: { name: "human", description: "A human." },
      },
    ],
  },
};

let worker: TestWorker;
let receiver: WebhookReceiver;
let count = 0;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  receiver = await WebhookReceiver.start();
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

beforeEach(async () => {
  receiver.reset();
  const { webhooks } = await json<{ webhooks: { id: string }[] }>(await ask("GET", "/v1/webhooks"));
  for (const { id } of webhooks) await ask("DELETE", `/v1/webhooks/${id}`);
});

function ask(method: string, path: string, body?: unknown): Promise<Response> {
  return worker.fetch(path, body === undefined ? { method } : jsonInit(body, method));
}

async function json<T = Record<string, unknown>>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

/** Creates a webhook and returns its secret. */
async function put(input: object = {}, id = "hook"): Promise<string> {
  const body = { url: receiver.url(), events: ["run.completed"], ...input };
  const response = await ask("PUT", `/v1/webhooks/${id}`, body);
  expect(response.status).toBe(201);
  return (await json<{ secret: string }>(response)).secret;
}

async function team(component: unknown = SAMPLE_COMPONENT): Promise<string> {
  const id = `team-${++count}`;
  const response = await ask("POST", "/v1/teams", { id, component });
  expect(response.status).toBe(201);
  return id;
}

async function run(id: string, input: object = {}): Promise<RunInfo> {
  const response = await ask("POST", `/v1/teams/${id}/runs?wait=60`, { task: "Go.", ...input });
  expect(response.status).toBeLessThan(300);
  return json<RunInfo>(response);
}

async function tried(): Promise<WebhookTest> {
  const response = await ask("POST", "/v1/webhooks/hook/test");
  expect(response.status).toBe(200);
  return json<WebhookTest>(response);
}

describe("webhook events", () => {
  test("reach a receiver that verifies them with the library", async () => {
    const secret = await put();
    const id = await team();
    const { id: run_id } = await run(id);
    const [event] = await receiver.events(secret, 1);
    expect(event).toEqual({
      type: "run.completed",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: expect.objectContaining({ id: run_id, run_id, team_id: id, status: "completed" }),
    });
    const headers = receiver.received[0]?.headers ?? {};
    expect(headers["content-type"]).toBe("application/json");
    const { deliveries } = await vi.waitUntil(async () => {
      const page = await json<{ deliveries: WebhookDelivery[] }>(
        await ask("GET", "/v1/webhooks/hook/deliveries?status=delivered"),
      );
      return page.deliveries.length === 1 && page;
    }, PATIENCE);
    expect(deliveries[0]).toMatchObject({ id: headers["webhook-id"], team_id: id, run_id });
  });

  test("arrive in order for a question and its run", async () => {
    const events = ["run.waiting", "run.completed", "request.created", "run.cancelled"];
    const secret = await put({ events });
    const id = await team(HUMAN);
    const waiting = await run(id);
    const [request] = waiting.requests;
    const path = `/v1/teams/${id}/runs/${waiting.id}`;
    await ask("POST", `${path}/requests/${request?.id}`, { content: "Yes." });
    const again = await run(id);
    await ask("POST", `/v1/teams/${id}/runs/${again.id}/stop`, { mode: "now" });
    const received = await receiver.events(secret, 6);
    const types = received.map(({ type }) => type);
    expect(types.slice(0, 2).toSorted()).toEqual(["request.created", "run.waiting"]);
    expect(types[2]).toBe("run.completed");
    expect(types.slice(3, 5).toSorted()).toEqual(["request.created", "run.waiting"]);
    expect(types[5]).toBe("run.cancelled");
    expect(received.find(({ type }) => type === "request.created")?.data).toMatchObject({
      id: request?.id,
      team_id: id,
      run_id: waiting.id,
      kind: "input",
    });
  });

  test("arrive in order for messages, before the end of their run", async () => {
    const id = await team();
    await run(id);
    // Webhooks are sent what the tenant learns after they were made, which may be a moment after the run's end.
    await expect
      .poll(async () => {
        const page = await ask("GET", `/v1/runs?team=${id}&status=completed`);
        return (await json<{ runs: object[] }>(page)).runs.length;
      })
      .toBe(1);
    const said = async (): Promise<{ id: string }[]> =>
      (await json<{ messages: { id: string }[] }>(await ask("GET", `/v1/teams/${id}/messages`)))
        .messages;
    const before = await said();
    const secret = await put({ events: ["message", "run.completed"] });
    const { id: run_id } = await run(id);
    const messages = (await said()).slice(before.length);
    const received = await receiver.events(secret, messages.length + 1);
    expect(received.map(({ type }) => type)).toEqual([
      ...messages.map(() => "message"),
      "run.completed",
    ]);
    expect(received.slice(0, -1).map(({ data }) => data)).toEqual(
      messages.map((message) => ({ ...message, team_id: id, run_id })),
    );
    await ask("DELETE", "/v1/webhooks/hook");
    receiver.reset();
    await run(id);
    const other = await put({ events: ["run.completed"] }, "other");
    await run(id);
    const later = await receiver.events(other, 1);
    expect(new Set(later.map(({ type }) => type))).toEqual(new Set(["run.completed"]));
  });
});

describe("a webhook on a run", () => {
  test("is signed with its own secret or with the tenant's", async () => {
    const own = `whsec_${btoa("s".repeat(32))}`;
    const id = await team();
    await run(id, { webhook: { url: receiver.url("/own"), secret: own } });
    const [event] = await receiver.events(own, 1, "/own");
    expect(event).toMatchObject({ type: "run.completed", data: { team_id: id } });
    await run(id, { webhook: { url: receiver.url("/default") } });
    const { secret } = await json<{ secret: string }>(
      await ask("GET", "/v1/webhooks/default/secret"),
    );
    await receiver.events(secret, 1, "/default");
    const { deliveries } = await json<{ deliveries: WebhookDelivery[] }>(
      await ask("GET", "/v1/webhooks/default/deliveries"),
    );
    expect(deliveries.map(({ url }) => url)).toEqual([
      receiver.url("/default"),
      receiver.url("/own"),
    ]);
  });

  test("gets messages if it subscribes to them, and not those of other runs", async () => {
    const secret = `whsec_${btoa("m".repeat(24))}`;
    const id = await team();
    const webhook = { url: receiver.url("/run"), secret, events: ["message", "run.completed"] };
    const { id: told } = await run(id, { webhook });
    await run(id);
    const { messages } = await json<{ messages: unknown[] }>(
      await ask("GET", `/v1/teams/${id}/messages`),
    );
    const received = await receiver.events(secret, messages.length / 2 + 1, "/run");
    expect(received.at(-1)?.type).toBe("run.completed");
    expect(new Set(received.map(({ data }) => data["run_id"]))).toEqual(new Set([told]));
  });
});

describe("a bad receiver", () => {
  test("that redirects is not followed", async () => {
    await put({ url: receiver.url("/away") });
    receiver.respond = (response) => {
      response.writeHead(307, { location: receiver.url("/elsewhere") }).end();
    };
    const result = await tried();
    expect(result).toMatchObject({ delivered: false });
    expect(result.error).toContain("redirects are not followed");
    expect(receiver.received.map(({ path }) => path)).toEqual(["/away"]);
  });

  test.each([200, 500])("that streams for ever after %d is not read to the end", async (status) => {
    await put();
    let closed = false;
    receiver.respond = (response) => {
      response.writeHead(status);
      const timer = setInterval(() => response.write("x".repeat(1_000)), 5);
      response.on("close", () => {
        clearInterval(timer);
        closed = true;
      });
    };
    const result = await tried();
    expect(result).toMatchObject({ status, delivered: status === 200 });
    expect(result.response?.length ?? 0).toBe(status === 200 ? 0 : 4_096);
    await vi.waitUntil(() => closed, PATIENCE);
  });

  test("that cannot be reached is named, and the delivery waits for its next attempt", async () => {
    const gone = await WebhookReceiver.start();
    const url = gone.url();
    await gone[Symbol.asyncDispose]();
    await put({ url });
    await run(await team());
    const { deliveries } = await vi.waitUntil(async () => {
      const page = await json<{ deliveries: WebhookDelivery[] }>(
        await ask("GET", "/v1/webhooks/hook/deliveries"),
      );
      return (page.deliveries[0]?.attempts ?? 0) > 0 && page;
    }, PATIENCE);
    expect(deliveries[0]).toMatchObject({ status: "pending", last_attempt: { status: null } });
    expect(deliveries[0]?.last_attempt?.error).toContain("cannot be reached");
  });
});

describe("a request about webhooks", () => {
  test.each([
    ["no URL", { url: "nothing" }, "url"],
    ["another scheme", { url: "ftp://example.com/" }, "url"],
    ["a password", { url: "https://me:secret@example.com/" }, "url"],
    ["a fragment", { url: "https://example.com/#part" }, "url"],
    ["a line break", { url: "https://example.com/\r\nX-Evil: 1" }, "url"],
    ["a tab", { url: "https://exa\tmple.com/" }, "url"],
    ["a long URL", { url: `https://example.com/${"a".repeat(2_000)}` }, "url"],
    ["a private address", { url: "https://10.0.0.1/" }, "url"],
    ["an address of the cloud", { url: "http://169.254.169.254/latest/meta-data" }, "url"],
    ["an address in disguise", { url: "http://0xa9fea9fe/" }, "url"],
    ["a name of the local network", { url: "https://printer.local/" }, "url"],
    ["no events", { events: [] }, "events"],
    ["an unknown event", { events: ["run.exploded"] }, "events[0]"],
    ["an event twice", { events: ["message", "message"] }, "events"],
    ["a line break in the description", { description: "a\r\nX-Evil: 1" }, "description"],
    ["an invalid team", { team: "a/b" }, "team"],
    ["an unknown field", { secret: "mine" }, "secret"],
  ])("that contains %s is refused at its place", async (_, input, path) => {
    const body = { url: receiver.url(), events: ["message"], ...input };
    const response = await ask("PUT", "/v1/webhooks/hook", body);
    expect(response.status).toBe(422);
    const problem = await json<{ errors: { path: string }[] }>(response);
    expect(problem.errors.map((error) => error.path)).toEqual([path]);
    expect((await ask("GET", "/v1/webhooks/hook")).status).toBe(404);
  });

  test.each([
    ["a private address", { url: "https://192.168.0.1/" }, "webhook.url"],
    ["a short secret", { url: "https://example.com/", secret: "whsec_c2hvcnQ=" }, "webhook.secret"],
    ["an unknown event", { url: "https://example.com/", events: ["all"] }, "webhook.events[0]"],
  ])("that starts a run whose webhook has %s is refused at its place", async (_, webhook, path) => {
    const id = await team();
    const response = await ask("POST", `/v1/teams/${id}/runs`, { task: "Go.", webhook });
    expect(response.status).toBe(422);
    const problem = await json<{ errors: { path: string }[] }>(response);
    expect(problem.errors.map((error) => error.path)).toEqual([path]);
  });

  test("is shown without the secrets of its URL, and a PUT of the shown form keeps them", async () => {
    const path = "/hook/0b9e2a3c-1f0d-4a7e-9c55-8d2f3b1a6e77?token=abcdef&v=1";
    const shown = receiver.url("/hook/**********?token=**********&v=1");
    const secret = await put({ url: receiver.url(path) });
    const webhook = await json(await ask("GET", "/v1/webhooks/hook"));
    expect(webhook["url"]).toBe(shown);
    expect(await (await ask("GET", "/v1/webhooks")).text()).not.toContain("abcdef");

    const change = (url: string) =>
      ask("PUT", "/v1/webhooks/hook", { url, events: ["run.failed", "run.completed"] });
    const kept = await change(shown);
    expect(kept.status).toBe(200);
    expect((await json(kept))["url"]).toBe(shown);
    await run(await team());
    await receiver.events(secret, 1, path);
    const deliveries = await (await ask("GET", "/v1/webhooks/hook/deliveries")).text();
    expect(deliveries).toContain(shown);
    expect(deliveries).not.toContain("abcdef");

    const elsewhere = await change("http://127.0.0.1:9/hook/**********?token=**********&v=1");
    expect(elsewhere.status).toBe(422);
    expect(await json(elsewhere)).toMatchObject({ errors: [{ path: "url" }] });
    receiver.respond = (response) => response.writeHead(500).end("no abcdef here, nor YWJjZGVm");
    expect((await tried()).response).toBe("no [redacted] here, nor [redacted]");
  });

  test("whose secret leaked gets one that signs alone at once", async () => {
    await put();
    const rotated = await json<{ secret: string }>(
      await ask("POST", "/v1/webhooks/hook/rotate_secret", { revoke_previous: true }),
    );
    expect(rotated).toMatchObject({ previous_secret_expires_at: null });
    await tried();
    await receiver.events(rotated.secret, 1);
    expect(String(receiver.received[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(1);
  });

  test("cannot take the reserved id or name webhooks that do not exist", async () => {
    const body = { url: receiver.url(), events: ["message"] };
    const reserved = await ask("PUT", "/v1/webhooks/default", body);
    expect(reserved.status).toBe(422);
    expect(await json(reserved)).toMatchObject({ code: "reserved_webhook" });
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate_secret"],
      ["GET", "/deliveries"],
      ["POST", "/deliveries/msg_1/retry"],
    ] as const) {
      const response = await ask(method, `/v1/webhooks/none${path}`);
      expect(response.status, path).toBe(404);
      expect(await json(response)).toMatchObject({ code: "webhook_not_found" });
    }
  });

  test("replaces a webhook without showing its secret", async () => {
    const secret = await put({ description: "first" });
    const body = { url: receiver.url("/two"), events: ["message"] };
    const response = await ask("PUT", "/v1/webhooks/hook", body);
    expect(response.status).toBe(200);
    const replaced = await json(response);
    expect(replaced).toMatchObject({ ...body, description: null, team: null, enabled: true });
    expect(JSON.stringify(replaced)).not.toContain("whsec");
    expect(await tried()).toMatchObject({ delivered: true, status: 200, error: null });
    const [event] = await receiver.events(secret, 1, "/two");
    expect(event).toMatchObject({ type: "webhook.test", data: { webhook_id: "hook" } });
  });
});
