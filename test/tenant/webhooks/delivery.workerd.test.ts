import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isSignedWith, receivers } from "../../team/support/receiver.ts";
import { Signal, value } from "../../team/support/team.ts";
import { DAY, event, HOUR, MINUTE, TestTenant, URL_A } from "./support.ts";
import { PATIENCE } from "../../support/patience.ts";

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

const runs = (): string[] =>
  receivers.received.map(({ event: { data } }) => String(data["run_id"]));

test("an event is delivered, signed, in the form of Standard Webhooks", async () => {
  const secret = await tenant.put("hook");
  await tenant.offer(event("team", "r1"));
  const [delivery] = await tenant.until(([one]) => one?.status === "delivered");
  const [received] = receivers.received;
  if (received === undefined) throw new Error("nothing was received");
  expect(received.event).toEqual({
    type: "run.completed",
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: expect.objectContaining({ team_id: "team", run_id: "r1", id: "r1", status: "completed" }),
  });
  expect(isSignedWith(secret, received)).toBe(true);
  expect(isSignedWith(secret, { ...received, body: `${received.body} ` })).toBe(false);
  expect(delivery).toMatchObject({
    id: received.id,
    type: "run.completed",
    team_id: "team",
    run_id: "r1",
    url: URL_A,
    attempts: 1,
    last_attempt: { status: 200, error: null },
    next_attempt_at: null,
  });
});

test("a webhook receives only the events that it asks for", async () => {
  await tenant.put("hook", { team: "mine" });
  await tenant.put("other", { events: ["message"], url: "https://b.example.com/" });
  await tenant.put("off", { enabled: false });
  await tenant.offer(
    event("mine", "r1"),
    event("theirs", "r2"),
    event("mine", "r3", { type: "run.failed" }),
    event("mine", "r4", { type: "message" }),
  );
  await tenant.until((all) => all.every(({ status }) => status === "delivered"));
  await tenant.until(([one]) => one?.status === "delivered", "other");
  expect(runs().toSorted()).toEqual(["r1", "r4"]);
  expect(await tenant.deliveries("off")).toEqual([]);
});

test("a failed delivery is repeated with the same id, a new time and a growing wait, for three days", async () => {
  const secret = await tenant.put("hook");
  receivers.answer = () => ({ status: 500, response: "broken" });
  const start = Date.now();
  await tenant.complete("team", "r1", "r2");
  const waits: number[] = [];
  for (let attempts = 1; attempts < 10; attempts++) {
    const [, first] = await tenant.until((all) => all[1]?.attempts === attempts);
    expect(first).toMatchObject({
      status: "pending",
      last_attempt: { status: 500, error: "The receiver answered 500.", response: "broken" },
    });
    const wait = Date.parse(first?.next_attempt_at ?? "") - Date.now();
    waits.push(wait);
    await tenant.pass(wait - 1_000);
    expect(receivers.received).toHaveLength(attempts);
    await tenant.pass(1_000);
  }
  const [second, first] = await tenant.until((all) =>
    all.every(({ status }) => status === "failed"),
  );
  expect(first).toMatchObject({ attempts: 10 });
  expect(second).toMatchObject({ attempts: 0, last_attempt: null });
  expect((Date.now() - start) / DAY).toBeGreaterThan(2.6);
  expect((Date.now() - start) / DAY).toBeLessThan(3.4);
  const nominal = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
  for (const [index, wait] of nominal.entries()) {
    expect((waits[index] ?? 0) / wait).toBeGreaterThan(0.89);
    expect((waits[index] ?? 0) / wait).toBeLessThan(1.11);
  }
  expect(new Set(receivers.received.map(({ id }) => id)).size).toBe(1);
  expect(new Set(receivers.received.map(({ timestamp }) => timestamp)).size).toBe(10);
  expect(receivers.received.at(-1)).toSatisfy((last) => isSignedWith(secret, last));
  expect(value(await tenant.stub.webhook("hook"))).toMatchObject({
    enabled: false,
    disabled_reason: "Deliveries failed for three days.",
    disabled_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await tenant.complete("team", "r3");
  expect(await tenant.deliveries()).toHaveLength(2);
});

test("a webhook that is enabled again continues with new events", async () => {
  await tenant.put("hook");
  receivers.answer = () => 410;
  await tenant.complete("team", "r1", "r2");
  await tenant.until((all) => all.every(({ status }) => status === "failed"));
  expect(receivers.received).toHaveLength(1);
  expect(value(await tenant.stub.webhook("hook"))).toMatchObject({
    enabled: false,
    disabled_reason: "The receiver answered 410 Gone.",
  });
  const [, first] = await tenant.deliveries();
  expect(await tenant.stub.retryWebhookDelivery("hook", first?.id ?? "")).toMatchObject({
    problem: { status: 409, code: "webhook_disabled" },
  });
  receivers.answer = () => 204;
  expect(await tenant.put("hook")).toBe("");
  expect(value(await tenant.stub.webhook("hook"))).toMatchObject({
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
  });
  await tenant.complete("team", "r3");
  await tenant.until(([newest]) => newest?.status === "delivered");
  expect(runs()).toEqual(["r1", "r3"]);
  expect(value(await tenant.stub.retryWebhookDelivery("hook", first?.id ?? ""))).toMatchObject({
    status: "pending",
    id: first?.id,
  });
  await tenant.until((all) => all[2]?.status === "delivered");
  expect(receivers.received.at(-1)?.id).toBe(first?.id);
});

test("the deliveries of a team keep their order, those of other teams do not wait", async () => {
  await tenant.put("hook");
  let refused = 0;
  receivers.answer = ({ event: { data } }) =>
    data["run_id"] === "a1" && refused++ < 2 ? 503 : 200;
  await tenant.complete("a", "a1", "a2", "a3");
  await tenant.complete("b", "b1");
  await tenant.until((all) => all.some(({ status }) => status === "delivered"));
  expect(runs().toSorted()).toEqual(["a1", "b1"]);
  for (const wait of [6_000, 6 * MINUTE]) {
    await tenant.until((all) => all.some(({ last_attempt }) => last_attempt?.status === 503));
    await tenant.pass(wait);
  }
  await tenant.until((all) => all.every(({ status }) => status === "delivered"));
  expect(runs().filter((run) => run !== "b1")).toEqual(["a1", "a1", "a1", "a2", "a3"]);
});

test("a receiver that refuses one delivery and takes others is not disabled", async () => {
  await tenant.put("hook");
  receivers.answer = ({ event: { data } }) => (data["run_id"] === "poison" ? 400 : 200);
  await tenant.complete("a", "poison", "a2");
  await tenant.complete("b", "b1");
  for (let attempts = 1; attempts < 10; attempts++) {
    const all = await tenant.until((found) =>
      found.some((one) => one.run_id === "poison" && one.attempts === attempts),
    );
    const next = all.find(({ run_id }) => run_id === "poison")?.next_attempt_at ?? "";
    await tenant.pass(Date.parse(next) - Date.now());
  }
  const all = await tenant.until((found) => found.every(({ status }) => status !== "pending"));
  expect(Object.fromEntries(all.map(({ run_id, status }) => [run_id, status]))).toEqual({
    poison: "failed",
    a2: "delivered",
    b1: "delivered",
  });
  expect(value(await tenant.stub.webhook("hook")).enabled).toBe(true);
});

test("a receiver can ask for a longer wait, of a day at most, and only when it is busy", async () => {
  await tenant.put("hook");
  const answers = [
    { status: 429, retryAfter: HOUR, within: [HOUR, HOUR] },
    { status: 503, retryAfter: 30 * DAY, within: [DAY, DAY] },
    { status: 503, retryAfter: 1, within: [27 * MINUTE, 33 * MINUTE] },
    { status: 500, retryAfter: DAY, within: [1.8 * HOUR, 2.2 * HOUR] },
  ];
  receivers.answer = () => answers[receivers.received.length - 1] ?? 200;
  await tenant.complete("team", "r1");
  for (const [
    index,
    {
      within: [least = 0, most = 0],
    },
  ] of answers.entries()) {
    const [delivery] = await tenant.until(([one]) => one?.attempts === index + 1);
    const wait = Date.parse(delivery?.next_attempt_at ?? "") - Date.now();
    // The clock continues while the test looks.
    expect(wait).toBeGreaterThan(least - 5_000);
    expect(wait).toBeLessThanOrEqual(most);
    await tenant.pass(wait);
  }
  await tenant.until(([one]) => one?.status === "delivered");
});

test("requests are bounded, and a receiver that does not answer leaves some for others", async () => {
  await tenant.put("hook", { url: "https://slow.example.com/" });
  await tenant.put("other", { url: "https://fast.example.com/" });
  const ended = new Signal();
  receivers.answer = async ({ url }) => {
    if (url.includes("slow")) await ended.wait();
    return 200;
  };
  const teams = Array.from({ length: 20 }, (_, index) => `team-${index}`);
  await tenant.offer(...teams.map((team) => event(team, "r")));
  await tenant.until((all) => all.every(({ status }) => status === "delivered"), "other");
  expect(receivers.received.filter(({ url }) => url.includes("slow"))).toHaveLength(3);
  ended.set();
  await tenant.until((all) => all.every(({ status }) => status === "delivered"));
  expect(receivers.mostActive).toBeLessThanOrEqual(6);
  expect(receivers.received).toHaveLength(40);
});

test("pending deliveries survive the object, and are sent without a request", async () => {
  await tenant.put("hook");
  receivers.answer = () => 500;
  await tenant.complete("team", "r1", "r2");
  await tenant.until((all) => all[1]?.attempts === 1);
  await tenant.evict();
  receivers.answer = () => 200;
  const alarm = await tenant.alarm();
  expect((alarm ?? Infinity) - Date.now()).toBeLessThanOrEqual(15_000);
  await tenant.pass(6_000);
  await vi.waitUntil(() => receivers.received.length === 3, PATIENCE);
  await tenant.until((all) => all.every(({ status }) => status === "delivered"));
  expect(runs()).toEqual(["r1", "r1", "r2"]);
});

test("a delivery costs two rows, one more where its entry has to be noted, and its removal one", async () => {
  await tenant.put("hook", { events: ["message"] });
  const say = async (run: string): Promise<void> => {
    await tenant.offer(event("team", run, { type: "message" }));
    await tenant.until(([one]) => one?.run_id === run && one.status === "delivered");
  };
  await say("first");
  // The alarm also tells the registry of the new tenant.
  await tenant.pass(0);
  const before = await tenant.rowsWritten();
  for (let index = 0; index < 20; index++) await say(`r${index}`);
  expect((await tenant.rowsWritten()) - before).toBe(20 * 3);
  await tenant.pass(8 * DAY);
  expect(await tenant.deliveries()).toEqual([]);
  expect((await tenant.rowsWritten()) - before).toBe(20 * 3 + 21);
});

test("delivered ones are kept for seven days, at most a thousand and a batch", async () => {
  await tenant.put("hook");
  await tenant.complete("team", ...Array.from({ length: 1_300 }, (_, index) => `r${index}`));
  const count = async (): Promise<number> =>
    (await tenant.sql<{ n: number }>("select count(*) as n from webhook_delivery"))[0]?.n ?? 0;
  await tenant.until(([newest]) => newest?.status === "delivered");
  for (let batches = 0; batches < 2; batches++) await tenant.pass(0);
  await vi.waitUntil(async () => (await count()) <= 1_200, PATIENCE);
  expect(await count()).toBeGreaterThanOrEqual(1_000);
  const [newest] = await tenant.deliveries();
  expect(newest?.run_id).toBe("r1299");
  for (let batches = 0; batches < 6; batches++) await tenant.pass(8 * DAY);
  expect(await count()).toBe(0);
});
