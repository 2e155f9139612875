// Signatures as the makers' own packages make or check them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { signOfGitHub, Stripe, verifySlackRequest } from "../../peers/event-senders.ts";
import { TestWorker } from "../../support/worker.ts";
import { now, signed, TriggeredTeam } from "./support.ts";

let worker: TestWorker;
let team: TriggeredTeam;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  team = await TriggeredTeam.create(worker);
});

afterAll(() => worker[Symbol.asyncDispose]());

test("an event that Octokit signs starts a run", async () => {
  const secret = "It's a Secret to Everybody";
  await team.put("octokit", { secret });
  const body = JSON.stringify({ zen: "Grüße." });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    "x-hub-signature-256": await signOfGitHub(secret, body),
  };
  expect((await team.send("octokit", { headers, body })).status).toBe(202);
  expect((await team.send("octokit", { headers, body: `${body} ` })).status).toBe(401);
});

test("an event that Stripe's library signs starts a run", async () => {
  const secret = "whsec_of_the_endpoint";
  await team.put("stripe", { kind: "stripe", secret });
  const payload = JSON.stringify({ id: "evt_1", object: "event", type: "charge.failed" });
  const header = (timestamp: number): string =>
    Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  const send = (timestamp: number): Promise<Response> => {
    const headers = { "content-type": "application/json", "stripe-signature": header(timestamp) };
    return team.send("stripe", { headers, body: payload });
  };
  expect((await send(now())).status).toBe(202);
  expect((await send(now() - 400)).status).toBe(401);
});

test("an event that Bolt believes starts a run", async () => {
  const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";
  await team.put("slack", { kind: "slack", secret: signingSecret });
  const event = signed.slack(signingSecret, { event_id: "Ev1", type: "event_callback" });
  const headers = {
    "x-slack-signature": event.headers["x-slack-signature"] ?? "",
    "x-slack-request-timestamp": Number(event.headers["x-slack-request-timestamp"]),
  };
  verifySlackRequest({ signingSecret, body: event.body, headers });
  expect((await team.send("slack", event)).status).toBe(202);
});

test("an event that the library of Standard Webhooks signs starts a run", async () => {
  const { secret = "" } = await team.put("standard", { kind: "standard" });
  const body = JSON.stringify({ type: "invoice.paid" });
  const at = new Date();
  const headers = {
    "content-type": "application/json",
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("msg_1", at, body),
  };
  expect((await team.send("standard", { headers, body })).status).toBe(202);
});
