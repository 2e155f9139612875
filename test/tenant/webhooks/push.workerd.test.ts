import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SecretPushConfig } from "#contract/push.ts";
import { Sealer } from "#secrets/sealer.ts";
import { receivers } from "../../team/support/receiver.ts";
import { event, TestTenant, URL_A } from "./support.ts";

const URL_B = "https://b.example.com/push";
const DEFAULT = "default";

let tenant: TestTenant;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  receivers.reset();
  tenant = new TestTenant();
  // It is sent to no receiver: the tenant's tables are there.
  await tenant.put("hook", { events: ["message"] });
});

afterEach(async () => {
  vi.useRealTimers();
  await tenant.end();
});

async function config(
  id: string,
  given: Partial<SecretPushConfig> = {},
): Promise<SecretPushConfig> {
  const { SECRETS_KEY } = env as { SECRETS_KEY?: string };
  const headers = await new Sealer(SECRETS_KEY).seal(JSON.stringify({ "x-token": id }));
  return { id, url: URL_A, format: "plain", about: {}, headers, ...given };
}

const deleted = (run_id: string, id: string) => ({
  team: "team",
  change: { kind: "push_deleted", run_id, id } as const,
});

test("a notification is written in its format when it is sent, and shown without its secrets", async () => {
  await tenant.offer(event("team", "r1", { push: [await config("one")] }));
  const [delivery] = await tenant.until(([one]) => one?.status === "delivered", DEFAULT);
  expect(JSON.parse(receivers.received[0]!.body)).toMatchObject({
    run: { id: "r1", team_id: "team", status: "completed" },
    requests: [],
    answer: null,
  });
  expect(delivery).toMatchObject({ type: "run.completed", run_id: "r1", url: URL_A });
  expect(Object.keys(delivery!)).not.toContain("push");
  expect(JSON.stringify(delivery)).not.toContain("sealed:");
});

test("an unknown format is a failed attempt, and nothing is sent", async () => {
  await tenant.offer(event("team", "r1", { push: [await config("one", { format: "other" })] }));
  const [delivery] = await tenant.until(([one]) => one?.attempts === 1, DEFAULT);
  expect(delivery).toMatchObject({
    status: "pending",
    last_attempt: { status: null, error: expect.stringContaining("no format other") },
  });
  expect(receivers.received).toEqual([]);
});

test("each config of a run has its own order: one that gave up does not end the other", async () => {
  receivers.answer = ({ url }) => (url === URL_A ? 410 : 200);
  const push = [await config("one"), await config("two", { url: URL_B })];
  await tenant.offer(
    event("team", "r1", { type: "run.waiting", push }),
    event("team", "r1", { push }),
  );
  const all = await tenant.until((some) => some.every((one) => one.status !== "pending"), DEFAULT);
  const outcomes = all.map(({ url, status }) => `${url} ${status}`).toSorted();
  expect(outcomes).toEqual([
    `${URL_A} failed`,
    `${URL_A} failed`,
    `${URL_B} delivered`,
    `${URL_B} delivered`,
  ]);
});

test("a deleted config gets no pending notification, and a new one under its id gets the later ones", async () => {
  receivers.answer = () => 503;
  const one = await config("one");
  const push = [one, await config("two", { url: URL_B })];
  await tenant.offer(event("team", "r1", { type: "run.waiting", push }));
  await tenant.until((some) => some.every(({ attempts }) => attempts === 1), DEFAULT);
  receivers.answer = () => 200;
  await tenant.offer(deleted("r1", "one"), event("team", "r1", { push: [one] }));
  const [last] = await tenant.until(([first]) => first?.status === "delivered", DEFAULT);
  expect(last).toMatchObject({ type: "run.completed", url: URL_A });
  expect((await tenant.deliveries(DEFAULT)).map(({ url, type }) => `${type} ${url}`)).toEqual([
    `run.completed ${URL_A}`,
    `run.waiting ${URL_B}`,
  ]);
});

test("pending notifications are deleted with their team, and other teams keep theirs", async () => {
  receivers.answer = () => 503;
  const push = [await config("one")];
  await tenant.offer(
    event("team", "r1", { type: "run.waiting", push }),
    event("team-2", "r2", { type: "run.waiting", push }),
  );
  await tenant.until((some) => some.every(({ attempts }) => attempts === 1), DEFAULT);
  await tenant.evict();
  await tenant.offer({ team: "team", change: { kind: "deleted", idempotency: null } });
  const left = await tenant.deliveries(DEFAULT);
  expect(left.map(({ run_id }) => run_id)).toEqual(["r2"]);
});
