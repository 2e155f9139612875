import { expect, test } from "vitest";
import { type Principal, unauthorized } from "#api/auth/principal.ts";
import { tooManyRefusals } from "#api/auth/refusals.ts";
import type { Gateway } from "#contract/gateways/team-gateway.ts";
import { ok } from "#contract/result.ts";
import { testApp } from "../../support/http-app.ts";

const KEY: Principal = {
  tenant: "a",
  scopes: ["runs:read"],
  id: "created:key",
  kind: "created",
  name: "k",
  expires_at: null,
};

/** Teams whose streams send one frame and stay open. */
const gateway: Gateway = {
  team: () =>
    ({
      stream: async () =>
        ok({
          body: new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode(": ping\n\n")),
          }),
        }),
    }) as never,
};

test.for([
  ["", unauthorized(true)],
  [", also where its address has sent too many", tooManyRefusals("refusals_per_minute", 1, 60)],
] as const)("an open stream ends when its key is revoked%s", async ([, refusal]) => {
  let revoked = false;
  const { fetch } = testApp({
    gateway,
    authenticate: async () => (revoked ? refusal : KEY),
    recheckMs: 5,
  });
  const reader = (await fetch("/v1/teams/t/events")).body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  const rest = reader?.read();
  revoked = true;
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
  const { fetch } = testApp({ gateway: broken, authenticate: async () => KEY });
  const response = await fetch("/v1/teams/t/events");
  await expect(response.text()).rejects.toThrow("!");
});

test("a tenant that cannot be asked does not end streams", async () => {
  let asked = 0;
  const { fetch } = testApp({
    gateway,
    authenticate: async () => {
      if (++asked > 1) throw new Error("the tenant is away");
      return KEY;
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
