import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { MOST_CONNECTIONS } from "#contract/constants.ts";
import { tenantObject, tenantStub } from "../team/support/tenant.ts";

const RECORD = JSON.stringify({
  connected: false,
  scope: null,
  issuer: null,
  started_by: null,
  created_at: "2026-11-28T08:00:00.000Z",
  connected_at: null,
  base_url: "https://troupe.example",
  grant: "",
});

test("neither a caller nor a run begins a login at more servers than a tenant may have", async () => {
  const tenant = tenantStub("connections");
  await tenant.put({});
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    for (let n = 0; n < MOST_CONNECTIONS; n++) {
      storage.sql.exec("insert into connection values (?, ?)", `https://s${n}.example/`, RECORD);
    }
  });
  const one = { server: "https://one-more.example/mcp" };
  const refused = {
    ok: false,
    problem: { status: 409, code: "too_many_connections", extra: { limit: MOST_CONNECTIONS } },
  };
  const by = { baseUrl: "https://troupe.example", credential: "key" };
  expect(await tenant.startConnection(one, by)).toMatchObject(refused);
  const challenge = { rejected: null, fresh: false, scope: null, insufficient: false };
  const wanted = { ...one, ...challenge, resourceMetadata: null };
  const question = { team: "desk", run: "r1", request: "q1" };
  expect(await tenant.token({ ...wanted, ...question })).toMatchObject(refused);
});
