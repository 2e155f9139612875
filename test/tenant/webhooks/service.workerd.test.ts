import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runInDurableObject } from "cloudflare:test";
import { isSignedWith, type Received, receivers } from "../../team/support/receiver.ts";
import { tenantObject, WITHOUT_USERS } from "../../team/support/tenant.ts";
import { Signal, value } from "../../team/support/team.ts";
import { DAY, event, TestTenant, URL_A } from "./support.ts";
import { PATIENCE } from "../../support/patience.ts";

const RUN_URL = "https://run.example.com/hook";
const KEEP = { revoke_previous: false };
const RUN_EVENTS = ["run.completed" as const];

let tenant: TestTenant;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  receivers.reset();
  tenant = new TestTenant();
});

afterEach(async () => {
  vi.useRealTimers();
  await tenant.end();
});

async function received(run: string): Promise<Received> {
  return vi.waitUntil(
    () => receivers.received.find(({ event: { data } }) => data["run_id"] === run),
    PATIENCE,
  );
}

describe("the secrets of webhooks", () => {
  test("are shown once and stored encrypted", async () => {
    const secret = await tenant.put("hook");
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(JSON.stringify(value(await tenant.stub.webhook("hook")))).not.toContain("whsec");
    expect(JSON.stringify(await tenant.stub.webhooks())).not.toContain("whsec");
    const stored = JSON.stringify(await tenant.sql("select * from webhook_secret"));
    expect(stored).toContain("sealed:1:");
    expect(stored).not.toContain(secret);
  });

  test("are valid for a day after they were rotated", async () => {
    const first = await tenant.put("hook");
    const rotated = value(await tenant.stub.rotateWebhookSecret("hook", KEEP));
    const until = Date.parse(rotated.previous_secret_expires_at ?? "");
    expect(Math.abs(until - Date.now() - DAY)).toBeLessThan(5_000);
    await tenant.complete("team", "r1");
    const both = await received("r1");
    expect(both.signature.split(" ")).toHaveLength(2);
    expect(isSignedWith(first, both)).toBe(true);
    expect(isSignedWith(rotated.secret, both)).toBe(true);
    vi.setSystemTime(until + 1_000);
    await tenant.complete("team", "r2");
    const one = await received("r2");
    expect(isSignedWith(first, one)).toBe(false);
    expect(isSignedWith(rotated.secret, one)).toBe(true);
  });

  test("end at once when they are revoked", async () => {
    const first = await tenant.put("hook");
    const rotated = value(await tenant.stub.rotateWebhookSecret("hook", { revoke_previous: true }));
    expect(rotated.previous_secret_expires_at).toBeNull();
    await tenant.complete("team", "r1");
    const one = await received("r1");
    expect(isSignedWith(first, one)).toBe(false);
    expect(isSignedWith(rotated.secret, one)).toBe(true);
  });

  test("sign each attempt again, so that a receiver refuses a delivery that is sent again later", async () => {
    const secret = await tenant.put("hook");
    await tenant.complete("team", "r1");
    const one = await received("r1");
    expect(isSignedWith(secret, one)).toBe(true);
    vi.setSystemTime(Date.now() + 6 * 60_000);
    expect(isSignedWith(secret, one)).toBe(false);
    expect(isSignedWith(secret, { ...one, timestamp: Math.floor(Date.now() / 1000) })).toBe(false);
  });

  test("that can no longer be read fail a delivery with the reason", async () => {
    await tenant.put("hook");
    await runInDurableObject(tenantObject(tenant.stub), (_, { storage }) => {
      storage.sql.exec(
        "update webhook_secret set secrets = ?",
        JSON.stringify([{ sealed: "sealed:1:AAAA", until: null }]),
      );
    });
    await tenant.complete("team", "r1");
    const [delivery] = await tenant.until(([one]) => one?.attempts === 1);
    expect(delivery?.last_attempt?.error).toContain("SECRETS_KEY is not the one");
    expect(receivers.received).toEqual([]);
  });
});

describe("the webhook of a run", () => {
  test("is signed with the tenant's secret", async () => {
    const { secret } = value(await tenant.stub.defaultWebhookSecret());
    expect(value(await tenant.stub.defaultWebhookSecret()).secret).toBe(secret);
    const webhook = { url: RUN_URL, events: RUN_EVENTS, secret: null };
    await tenant.offer(event("team", "r1", { webhook }));
    await tenant.offer(event("team", "r1", { webhook, type: "run.waiting" }));
    const [delivery, ...others] = await tenant.until(
      ([one]) => one?.status === "delivered",
      "default",
    );
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ url: RUN_URL, run_id: "r1" });
    expect(isSignedWith(secret, await received("r1"))).toBe(true);
    const rotated = value(await tenant.stub.rotateWebhookSecret("default", KEEP));
    await tenant.offer(event("team", "r2", { webhook }));
    expect(isSignedWith(rotated.secret, await received("r2"))).toBe(true);
  });

  test("needs no secret that was asked for before", async () => {
    await tenant.offer(
      event("team", "r1", { webhook: { url: RUN_URL, events: RUN_EVENTS, secret: null } }),
    );
    const one = await received("r1");
    const { secret } = value(await tenant.stub.defaultWebhookSecret());
    expect(isSignedWith(secret, one)).toBe(true);
  });

  test("fails alone: the answers of its receiver do not affect others", async () => {
    await tenant.put("hook");
    const webhook = { url: RUN_URL, events: RUN_EVENTS, secret: null };
    receivers.answer = ({ url }) => (url === RUN_URL ? 410 : 200);
    await tenant.offer(event("team", "r1", { webhook }), event("team", "r1", { webhook }));
    const all = await tenant.until(
      (found) => found.every(({ status }) => status === "failed"),
      "default",
    );
    expect(all).toHaveLength(2);
    await tenant.until((found) => found.every(({ status }) => status === "delivered"));
    expect(receivers.received.filter(({ url }) => url === RUN_URL)).toHaveLength(1);
  });
});

describe("deliveries", () => {
  test("are paged, newest first, over all statuses or one", async () => {
    await tenant.put("hook");
    receivers.answer = ({ event: { data } }) => (data["run_id"] === "r2" ? 500 : 200);
    for (const team of ["1", "2", "3", "4", "5"]) await tenant.complete(team, `r${team}`);
    await tenant.until((all) => all.every(({ attempts }) => attempts === 1));
    const found: string[] = [];
    let cursor: string | null | undefined;
    do {
      const query = { limit: 2, ...(typeof cursor === "string" && { cursor }) };
      const page = value(await tenant.stub.webhookDeliveries("hook", query));
      found.push(...page.deliveries.map(({ run_id }) => run_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(found).toEqual(["r5", "r4", "r3", "r2", "r1"]);
    const query = { limit: 10, status: "pending" as const };
    const pending = value(await tenant.stub.webhookDeliveries("hook", query)).deliveries;
    expect(pending.map(({ run_id }) => run_id)).toEqual(["r2"]);
    expect(await tenant.stub.webhookDeliveries("hook", { limit: 1, cursor: "x" })).toMatchObject({
      problem: { status: 422, code: "invalid_cursor" },
    });
  });

  test("can be retried before their time", async () => {
    await tenant.put("hook");
    receivers.answer = () => (receivers.received.length < 3 ? 500 : 200);
    await tenant.complete("team", "r1", "r2");
    const [, first] = await tenant.until((all) => all[1]?.attempts === 1);
    await tenant.stub.retryWebhookDelivery("hook", first?.id ?? "");
    await tenant.until((all) => all[1]?.attempts === 2);
    await tenant.stub.retryWebhookDelivery("hook", first?.id ?? "");
    await tenant.until((all) => all.every(({ status }) => status === "delivered"));
    expect(receivers.received.map(({ event: { data } }) => data["run_id"])).toEqual([
      "r1",
      "r1",
      "r1",
      "r2",
    ]);
    expect(await tenant.stub.retryWebhookDelivery("hook", "msg_1_0")).toMatchObject({
      problem: { status: 404, code: "delivery_not_found" },
    });
  });

  test("contain only the small fields of large events", async () => {
    await tenant.put("hook", { events: ["message"] });
    const data = { id: "m1", content: "x".repeat(100_000) };
    await tenant.offer(event("team", "r1", { type: "message", data }));
    const { event: got } = await received("r1");
    expect(got.data).toEqual({ team_id: "team", run_id: "r1", id: "m1", truncated: true });
  });

  test("that wait when their webhook is disabled by its owner fail", async () => {
    await tenant.put("hook");
    receivers.answer = () => 500;
    await tenant.complete("team", "r1", "r2");
    await tenant.until((all) => all[1]?.attempts === 1);
    await tenant.put("hook", { enabled: false });
    expect((await tenant.deliveries()).map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(value(await tenant.stub.webhook("hook"))).toMatchObject({
      disabled_reason: null,
      disabled_at: expect.any(String),
    });
    await tenant.pass(DAY);
    expect(receivers.received).toHaveLength(1);
  });

  test("are gone with their webhook, also one that is on its way", async () => {
    await tenant.put("hook");
    const ended = new Signal();
    receivers.answer = async () => {
      await ended.wait();
      return 200;
    };
    await tenant.complete("team", "r1", "r2");
    await received("r1");
    value(await tenant.stub.deleteWebhook("hook"));
    await tenant.put("hook");
    ended.set();
    await tenant.complete("other", "r3");
    await tenant.until(([one]) => one?.status === "delivered");
    expect((await tenant.deliveries()).map(({ run_id }) => run_id)).toEqual(["r3"]);
    expect(receivers.received).toHaveLength(2);
  });

  test("stop when too many wait", async () => {
    await tenant.put("hook", { events: ["message"] });
    receivers.answer = () => 500;
    const data = { content: "hello" };
    const events = Array.from({ length: 10_001 }, () =>
      event("team", "r", { type: "message", data }),
    );
    await tenant.offer(...events);
    expect(value(await tenant.stub.webhook("hook"))).toMatchObject({
      enabled: false,
      disabled_reason: "More than 10000 deliveries were pending.",
    });
  });
});

describe("the webhooks of a tenant", () => {
  test("are at most fifty", async () => {
    for (let index = 0; index < 50; index++) await tenant.put(`hook-${index}`);
    const input = {
      url: URL_A,
      events: RUN_EVENTS,
      team: null,
      description: null,
      enabled: true,
    };
    expect(await tenant.stub.putWebhook("one-more", input)).toMatchObject({
      problem: { status: 409, code: "too_many_webhooks", extra: { limit: 50 } },
    });
    expect(value(await tenant.stub.putWebhook("hook-0", input)).created).toBe(false);
  });

  test("state whether the messages of a team are wanted", async () => {
    const wants = async (team: string): Promise<boolean> =>
      value(await tenant.stub.admit({ team, run: "alone" })).messages;
    await tenant.put("runs");
    expect(await wants("mine")).toBe(false);
    await tenant.put("hook", { events: ["message"], team: "mine" });
    expect([await wants("mine"), await wants("theirs")]).toEqual([true, false]);
    await tenant.put("hook", { events: ["message"], team: "mine", enabled: false });
    expect(await wants("mine")).toBe(false);
  });

  test("are none without stored data, and reading them writes nothing", async () => {
    expect(await tenant.stub.webhooks()).toEqual([]);
    expect(await tenant.stub.webhook("hook")).toMatchObject({ problem: { status: 404 } });
    expect(await tenant.stub.deleteWebhook("hook")).toMatchObject({ problem: { status: 404 } });
    expect(await tenant.stub.testWebhook("hook")).toMatchObject({ problem: { status: 404 } });
    expect(await tenant.deliveries("default")).toEqual([]);
    expect(await tenant.sql("select name from sqlite_master")).toEqual([]);
  });

  test("can be added to a tenant of an earlier version", async () => {
    await tenant.stub.put({ label: "Acme" });
    await runInDurableObject(tenantObject(tenant.stub), (_, { storage }) => {
      storage.sql.exec(WITHOUT_USERS);
      for (const table of [
        "webhook",
        "webhook_secret",
        "webhook_delivery",
        "conversation",
        "closed",
        "memory",
        "memory_stored",
        "session",
        "connection",
        "login",
        "login_wait",
        "team_token",
      ]) {
        storage.sql.exec(`drop table ${table}`);
      }
      storage.sql.exec("update meta set value = '2' where name = 'schema'");
    });
    await tenant.evict();
    expect(await tenant.stub.webhooks()).toEqual([]);
    await tenant.put("hook");
    expect(await tenant.stub.info()).toMatchObject({ value: { label: "Acme" } });
  });
});
