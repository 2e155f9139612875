import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { TenantGateway } from "#contract/gateways/tenant-gateway.ts";
import type { TokenOfTeam } from "#contract/gateways/team-gateway.ts";
import { DurableObjectTenants } from "#tenant/object/durable-object-tenants.ts";
import { lastObject } from "../support/last-object.ts";
import { counter, TestTeam, value } from "../support/team.ts";

const never = new AbortController().signal;

async function teamWithTokens(): Promise<{
  team: TestTeam;
  token(id: string, made_at?: number): TokenOfTeam;
  sockets(): Promise<number>;
}> {
  const team = await TestTeam.create(counter("a"));
  const creation = value(await team.gateway.creation());
  return {
    team,
    token: (id, made_at = Date.now()) => ({ creation, id, made_at }),
    sockets: () =>
      runInDurableObject(team.stub, (_instance, state) => state.getWebSockets().length),
  };
}

test("a watcher of a team token learns that it was revoked, from an object that was unloaded", async () => {
  const { team, token, sockets } = await teamWithTokens();
  const [first, second] = ["t1", "t2"].map((id) => team.gateway.tokenEnds(token(id), never));
  await expect.poll(sockets).toBe(2);
  const loaded = lastObject.state;
  await team.evict();
  value(await team.gateway.revokeTokens("t1"));
  expect(lastObject.state).not.toBe(loaded);
  expect(await first).toBe(true);
  // The other one is still waited for.
  await expect.poll(sockets).toBe(1);
  await team.evict();
  value(await team.gateway.revokeTokens(null));
  expect(await second).toBe(true);
});

test("a token that was revoked, or is for an earlier team, has ended at once", async () => {
  const { team, token } = await teamWithTokens();
  value(await team.gateway.revokeTokens("t1"));
  expect(await team.gateway.tokenEnds(token("t1"), never)).toBe(true);
  const earlier = { ...token("t2"), creation: "another" };
  expect(await team.gateway.tokenEnds(earlier, never)).toBe(true);
});

test("a team forgets that a token was revoked once it has expired, and refuses more revocations than it can keep", async () => {
  const { team, token } = await teamWithTokens();
  const now = Date.now();
  const day = 86_400_000;
  const revoked = Array.from({ length: 1000 }, (_, n) => `t${n}`);
  const of = (time: number): object => Object.fromEntries(revoked.map((id) => [id, time]));
  const keep = (stored: object): Promise<void> =>
    runInDurableObject(team.stub, (_instance, { storage: { sql } }) => {
      const text = JSON.stringify({ until: 0, ...stored });
      sql.exec("insert or replace into meta values ('revoked_tokens', ?)", text);
    });
  const refused = {
    ok: false,
    problem: {
      status: 409,
      code: "too_many_revoked_tokens",
      detail: expect.stringContaining("still works"),
    },
  };
  // In a record of the version before, nothing says when they expire.
  await keep({ ids: of(now - day) });
  expect(await team.gateway.revokeTokens("more", now + day)).toMatchObject(refused);
  expect(await team.gateway.isRevoked(token("more"))).toBe(false);
  await keep({ ids: of(now), ends: of(now + day) });
  expect(await team.gateway.revokeTokens("more", now + day)).toMatchObject(refused);
  // One that is revoked already takes no further place.
  value(await team.gateway.revokeTokens("t7", now + day));
  await keep({ ids: of(now - 2 * day), ends: { ...of(now - day), t7: now + day } });
  value(await team.gateway.revokeTokens("more", now + day));
  for (const id of ["t7", "more"]) expect(await team.gateway.isRevoked(token(id))).toBe(true);
  const left = await runInDurableObject(team.stub, (_instance, { storage: { sql } }) =>
    sql.exec<{ value: string }>("select value from meta where name = 'revoked_tokens'").one(),
  );
  expect(JSON.parse(left.value)).toEqual({
    until: 0,
    ids: { t7: now - 2 * day, more: expect.any(Number) },
    ends: { t7: now + day, more: now + day },
  });
});

test("a team that crashes ends no token, and a client that leaves takes its socket along", async () => {
  const { team, token, sockets } = await teamWithTokens();
  const crashed = team.gateway.tokenEnds(token("t1"), never);
  await expect.poll(sockets).toBe(1);
  await team.crash();
  expect(await crashed).toBe(false);
  const client = new AbortController();
  const left = team.gateway.tokenEnds(token("t1"), client.signal);
  await expect.poll(sockets).toBe(1);
  client.abort();
  expect(await left).toBe(false);
  await expect.poll(sockets).toBe(0);
});

test("sockets of tokens are not watchers: they get no frames, and use no places", async () => {
  const { team, token, sockets } = await teamWithTokens();
  const ends = team.gateway.tokenEnds(token("t1"), never);
  await expect.poll(sockets).toBe(1);
  const frames = await team.stream(null);
  await team.evict();
  const run = await team.start("go");
  await team.finished(run.id);
  expect((await frames.next()).done).toBe(false);
  await frames.return();
  await expect.poll(sockets).toBe(1);
  value(await team.gateway.revokeTokens("t1"));
  expect(await ends).toBe(true);
});

test("a watcher of a created key learns that it was revoked, or that its tenant is deleted", async () => {
  const name = "ended-keys";
  const gateway = (): TenantGateway => new DurableObjectTenants(env.TENANT, 30_000).tenant(name);
  const stub = env.TENANT.get(env.TENANT.idFromName(name));
  const sockets = (): Promise<number> =>
    runInDurableObject(stub, (_instance, state) => state.getWebSockets().length);
  for (const id of ["k1", "k2"]) {
    const hash = "a".repeat(64);
    value(await gateway().createKey({ id, name: id, scopes: [], hash, expires_in: null }));
  }
  const [first, second] = ["k1", "k2"].map((id) => gateway().keyEnds(id, never));
  await expect.poll(sockets).toBe(2);
  await evictDurableObject(stub);
  value(await gateway().revokeKey("k1"));
  expect(await first).toBe(true);
  expect(await gateway().keyEnds("k1", never)).toBe(true);
  await expect.poll(sockets).toBe(1);
  await evictDurableObject(stub);
  value(await gateway().destroy());
  expect(await second).toBe(true);
});
