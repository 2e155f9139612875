import { afterEach, describe, expect, test, vi } from "vitest";
import { type Principal, unauthorized } from "#api/auth/principal.ts";
import { tooManyRefusals } from "#api/auth/refusals.ts";
import type { Gateway } from "#contract/gateways/team-gateway.ts";
import { ok } from "#contract/result.ts";
import { testApp } from "../../../support/http-app.ts";

/** A credential that is verified without an object. */
const IDENTITY: Principal = {
  tenant: "a",
  scopes: ["runs:read"],
  id: "sub",
  kind: "identity",
  name: "s",
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
};
const KEY: Principal = { ...IDENTITY, kind: "created", key: "k1", expires_at: null };
const TOKEN: Principal = {
  ...IDENTITY,
  kind: "team",
  team: { id: "t", token: { creation: "c", id: "t1", made_at: 0 } },
};

/** Waits until a credential is revoked. */
type Ends = (credential: unknown, signal: AbortSignal) => Promise<boolean>;

/** Teams whose streams send one frame and stay open. */
const gatewayWith = (tokenEnds?: Ends): Gateway => ({
  team: () =>
    ({
      isRevoked: async () => false,
      tokenEnds,
      stream: async () =>
        ok({
          body: new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode(": ping\n\n")),
          }),
        }),
    }) as never,
});
const gateway = gatewayWith();

afterEach(() => {
  vi.useRealTimers();
});

test.for([
  ["", unauthorized(true)],
  [", also where its address has sent too many", tooManyRefusals("refusals_per_minute", 1, 60)],
] as const)("an open stream ends when its credential is refused%s", async ([, refusal]) => {
  let revoked = false;
  const { fetch } = testApp({
    gateway,
    authenticate: async () => (revoked ? refusal : IDENTITY),
    recheckMs: 5,
  });
  const reader = (await fetch("/v1/teams/t/events")).body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  const rest = reader?.read();
  revoked = true;
  expect(await rest).toMatchObject({ done: true });
});

describe.each([
  ["a created key", KEY, "k1"],
  ["a team token", TOKEN, TOKEN.team?.token],
])("a stream with %s", (_, principal, credential) => {
  /** An app whose objects answer in turn, and the first reader of its stream. */
  async function opened(ends: Ends) {
    let authenticated = 0;
    const { fetch } = testApp({
      gateway: gatewayWith(ends),
      tenants: { tenant: () => ({ keyEnds: ends, limits: async () => ({}) }) } as never,
      authenticate: async () => {
        authenticated++;
        return principal;
      },
      recheckMs: 5,
    });
    const reader = (await fetch("/v1/teams/t/events")).body!.getReader();
    expect((await reader.read()).done).toBe(false);
    return { reader, authenticated: () => authenticated };
  }

  test("ends when its object reports the revocation, and asks the object again only after a break", async () => {
    const asked: unknown[] = [];
    const revoked = Promise.withResolvers<boolean>();
    const answers = [
      Promise.reject(new Error("the object is away")),
      Promise.resolve(false),
      revoked.promise,
    ];
    for (const answer of answers) answer.catch(() => undefined);
    const { reader, authenticated } = await opened((given) => {
      asked.push(given);
      return answers.shift() ?? Promise.reject(new Error("nothing was broken"));
    });
    const rest = reader.read();
    await expect.poll(() => asked.length).toBe(3);
    revoked.resolve(true);
    expect(await rest).toMatchObject({ done: true });
    expect(asked).toEqual([credential, credential, credential]);
    expect(authenticated()).toBe(1);
  });

  test("waits for its end only while it is read", async () => {
    const waits = Promise.withResolvers<AbortSignal>();
    const { reader } = await opened((_given, signal) => {
      waits.resolve(signal);
      return new Promise(() => undefined);
    });
    const signal = await waits.promise;
    expect(signal.aborted).toBe(false);
    await reader.cancel();
    await expect.poll(() => signal.aborted).toBe(true);
  });
});

test("a stream with a team token ends with the key that created the token, too", async () => {
  const waits = Promise.withResolvers<AbortSignal>();
  const { fetch } = testApp({
    gateway: gatewayWith((_given, signal) => {
      waits.resolve(signal);
      return new Promise(() => undefined);
    }),
    tenants: {
      tenant: () => ({ keyEnds: async () => true, limits: async () => ({}) }),
    } as never,
    authenticate: async () => ({ ...TOKEN, key: "k1" }),
    recheckMs: 5,
  });
  const reader = (await fetch("/v1/teams/t/events")).body!.getReader();
  expect((await reader.read()).done).toBe(false);
  expect(await reader.read()).toMatchObject({ done: true });
  expect((await waits.promise).aborted).toBe(true);
});

test("a stream ends when its credential expires", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const life = 3_600_000;
  const principal = { ...TOKEN, expires_at: new Date(Date.now() + life).toISOString() };
  const { fetch } = testApp({
    gateway: gatewayWith(() => new Promise(() => undefined)),
    authenticate: async () => principal,
  });
  const reader = (await fetch("/v1/teams/t/events")).body!.getReader();
  expect((await reader.read()).done).toBe(false);
  let isOver = false;
  const rest = reader.read().finally(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(life - 1);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await rest).toMatchObject({ done: true });
});

test("a stream that breaks is broken for its client, too", async () => {
  const broken: Gateway = {
    team: () =>
      ({
        stream: async () =>
          ok({
            body: new ReadableStream({ pull: (controller) => controller.error(new Error("!")) }),
          }),
      }) as never,
  };
  const { fetch } = testApp({ gateway: broken, authenticate: async () => IDENTITY });
  const response = await fetch("/v1/teams/t/events");
  await expect(response.text()).rejects.toThrow("!");
});

test("an issuer that cannot be reached does not end streams", async () => {
  let asked = 0;
  const { fetch } = testApp({
    gateway,
    authenticate: async () => {
      if (++asked > 1) throw new Error("the issuer is away");
      return IDENTITY;
    },
    recheckMs: 5,
  });
  const reader = (await fetch("/v1/teams/t/events")).body?.getReader();
  await reader?.read();
  const more = reader?.read().then(
    () => "ended",
    () => "ended",
  );
  await expect.poll(() => asked).toBeGreaterThan(4);
  const open = new Promise((resolve) => setImmediate(() => resolve("open")));
  expect(await Promise.race([more, open])).toBe("open");
  await reader?.cancel();
});
