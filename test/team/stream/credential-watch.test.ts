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

test("who waits for the end of a team token learns that it was revoked, from an object that was unloaded", async () => {
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

test("sockets of tokens are no watchers: they get no frames, and take no places", async () => {
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

test("who waits for the end of a created key learns that it was revoked, or that its tenant is deleted", async () => {
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
