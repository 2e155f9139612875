import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "#api/auth/api-key.ts";
import { crc32, toBase62 } from "#api/auth/bytes.ts";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { readUntil } from "../../../support/read-until.ts";

const ACME = "acme-secret";
const READER = "reader-secret";
const OPERATOR = "operator-secret";
const ORIGIN = "https://app.example.com";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(ACME), tenant: "acme", scopes: SCOPES },
      { hash: await sha256Hex(READER), tenant: "acme", scopes: ["teams:read", "keys:write"] },
    ]),
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    ALLOWED_ORIGINS: ORIGIN,
  });
  const made = await send("/v1/teams", ACME, { id: "demo", component: SAMPLE_COMPONENT });
  expect(made.status).toBe(201);
});

afterAll(() => worker[Symbol.asyncDispose]());

function send(path: string, credential: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${credential}` };
  return worker.fetch(path, body === undefined ? { headers } : jsonInit(body, "POST", headers));
}

async function json<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

/** Sends headers that `fetch` would mend, each as often as it is named. */
async function raw(
  headers: readonly (readonly [string, string])[],
  { path = "/v1/whoami", method = "GET" } = {},
): Promise<{ status: number; body: { code?: string; tenant?: string; kind?: string } }> {
  const { hostname, port, host } = new URL(await worker.origin);
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname,
      port,
      path,
      method,
      headers: [["host", host], ...headers].flat(),
    });
    sent.on("error", reject).on("response", (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(body) as object }),
        reject,
      );
    });
    sent.end();
  });
}

/** A created key with its checksum mended. */
function withChecksum(unsigned: string): string {
  return unsigned + toBase62(crc32(unsigned));
}

describe("a created key is refused", () => {
  test.for([
    ["moved to another tenant", (key: string) => key.replace("trp_acme_", "trp_globex_")],
    ["moved to the registry", (key: string) => key.replace("trp_acme_", "trp_@registry_")],
    ["with a path as its tenant", (key: string) => key.replace("trp_acme_", "trp_../acme_")],
    ["with a path as its id", (key: string) => key.replace(/_\w{12}_/, "_../../../../_")],
    [
      "with another tenant's id in capitals",
      (key: string) => key.replace("trp_acme_", "trp_ACME_"),
    ],
    ["with a secret of zeros", (key: string) => key.replace(/\w{49}$/, "0".repeat(49))],
  ] as const)("when it is changed: %s", async ([, change]) => {
    const { key } = await json<{ key: string }>(await send("/v1/keys", ACME, { name: "victim" }));
    expect((await send("/v1/whoami", key)).status).toBe(200);
    const changed = withChecksum(change(key).slice(0, -6));
    expect(changed).not.toBe(key);
    const response = await send("/v1/whoami", changed);
    expect(await json(response)).toMatchObject({ status: 401, code: "invalid_credentials" });
  });
});

describe("the rights of a credential do not grow", () => {
  test("when a key creates keys", async () => {
    const { key } = await json<{ key: string }>(
      await send("/v1/keys", READER, { name: "child", scopes: ["keys:write"] }),
    );
    for (const scopes of [["teams:read"], ["keys:write", "runs:write"], SCOPES]) {
      const refused = await send("/v1/keys", key, { name: "grandchild", scopes });
      expect(await json(refused)).toMatchObject({ status: 403, code: "missing_scope" });
    }
    const same = await json(await send("/v1/keys", key, { name: "grandchild" }));
    expect(same).toMatchObject({ scopes: ["keys:write"] });
  });

  test("when a team token is used: it creates neither tokens nor keys", async () => {
    const scopes = ["teams:read", "runs:write"];
    const { token } = await json<{ token: string }>(
      await send("/v1/teams/demo/tokens", ACME, { scopes, expires_in: 60 }),
    );
    const again = await send("/v1/teams/demo/tokens", token, { scopes, expires_in: 86_400 });
    expect(await json(again)).toMatchObject({ code: "missing_scope" });
    expect((await send("/v1/keys", token, { name: "x" })).status).toBe(403);
  });

  test("when a part of a team token is sent", async () => {
    const { token } = await json<{ token: string }>(
      await send("/v1/teams/demo/tokens", ACME, { scopes: ["teams:read"], expires_in: 60 }),
    );
    const [payload = "", mac = ""] = token.split(".");
    const claims = JSON.parse(atob(payload.slice("trpt_".length))) as object;
    const wider = btoa(JSON.stringify({ ...claims, scopes: SCOPES })).replaceAll("=", "");
    for (const forged of [
      `trpt_${wider}.${mac}`,
      `trpt_${wider}.`,
      `trpt_${wider}`,
      `${payload}.`,
      `${payload}.${mac.slice(0, -1)}`,
      `${payload}.${mac}.${mac}`,
      `${token}=`,
    ]) {
      expect((await send("/v1/teams/demo", forged)).status, forged).toBe(401);
    }
    expect((await send("/v1/teams/demo", token)).status).toBe(200);
  });
});

test("runs and requests are in the stream of changes only for those who may read runs", async () => {
  const ran = await send("/v1/teams/demo/runs?wait=60", ACME, { task: "Hello." });
  expect(ran.status).toBe(200);
  const changes = async (credential: string, until: string): Promise<string> => {
    const response = await send("/v1/events?after=0", credential);
    const reader = response.body!.getReader();
    const received = await readUntil(reader, (read) => read.includes(until));
    await reader.cancel();
    return received;
  };
  const all = await changes(ACME, '"status":"completed"');
  expect(all).toContain("event: run\n");
  const teams = await changes(READER, "event: team\n");
  expect(teams).not.toContain("event: run");
  expect(teams).not.toContain("event: request");
});

describe("headers are read unchanged", () => {
  test("two credentials are invalid", async () => {
    for (const [first, second] of [
      [ACME, "wrong"],
      ["wrong", ACME],
    ] as const) {
      const two = await raw([
        ["authorization", `Bearer ${first}`],
        ["authorization", `Bearer ${second}`],
      ]);
      expect(two.status).toBe(401);
      expect((await raw([["authorization", `Bearer ${first}, Bearer ${second}`]])).status).toBe(
        401,
      );
    }
  });

  test("only the operator names a tenant, and only one", async () => {
    const other = ["troupe-tenant", "globex"] as const;
    const acme = await raw([["authorization", `Bearer ${ACME}`], other]);
    expect(acme.body).toMatchObject({ tenant: "acme", kind: "static" });
    const two = await raw([
      ["authorization", `Bearer ${OPERATOR}`],
      other,
      ["troupe-tenant", "acme"],
    ]);
    expect(two).toMatchObject({ status: 422, body: { code: "invalid_tenant" } });
  });

  test.each([
    ["POST", "restore", { team: "desk", time: new Date().toISOString() }],
    ["GET", "teams/desk/versions/1", undefined],
  ])("%s %s refuses an id that no tenant can have", async (method, path, body) => {
    const response = await worker.fetch(`/v1/tenants/Acme/${path}`, {
      method,
      headers: { authorization: `Bearer ${OPERATOR}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: "invalid_tenant" });
  });

  test.for([
    ["x-original-url", "/healthz"],
    ["x-rewrite-url", "/healthz"],
    ["x-forwarded-host", "localhost"],
    ["x-forwarded-for", "127.0.0.1"],
    ["forwarded", "for=127.0.0.1;host=localhost"],
    ["origin", "http://localhost"],
    ["troupe-front-key", "undefined"],
    ["x-http-method-override", "HEAD"],
    ["cookie", `authorization=Bearer ${ACME}; token=${ACME}`],
    ["proxy-authorization", `Bearer ${ACME}`],
    ["x-api-key", ACME],
    ["authorization", ACME],
    ["authorization", `Basic ${btoa(`key:${ACME}`)}`],
    ["authorization", `Bearer ${ACME} ${ACME}`],
    ["authorization", `Bearer "${ACME}"`],
  ] as const)("%s: %s grants no access", async (header) => {
    expect((await raw([header])).status).toBe(401);
  });

  test("only the method in the request line counts", async () => {
    const headers = [
      ["authorization", `Bearer ${ACME}`],
      ["x-http-method-override", "DELETE"],
    ] as const;
    expect((await raw(headers, { path: "/v1/teams/demo?_method=DELETE" })).status).toBe(422);
    expect((await raw(headers, { path: "/v1/teams/demo" })).status).toBe(200);
    expect((await send("/v1/teams/demo", ACME)).status).toBe(200);
  });

  test.for([
    "/v1/teams/demo/../demo",
    "/v1//teams/demo",
    "/v1/teams/demo/",
    "/V1/teams/demo",
    "//healthz",
  ])("%s does not bypass the credential", async (path) => {
    expect((await raw([], { path })).status).toBe(401);
  });
});

describe("an origin that resembles an allowed one gets no CORS headers", () => {
  test.for([
    "null",
    "https://app.example.com.evil.example",
    "https://evil-app.example.com",
    "https://app.example.com:8443",
    "https://app.example.com/",
    "https://APP.example.com.",
    "http://app.example.com",
    "https://app.example.com@evil.example",
    "https://app.example.com, https://evil.example",
    "*",
  ])("%s", async (origin) => {
    const headers = { origin, "access-control-request-method": "POST" };
    for (const init of [
      { method: "OPTIONS", headers },
      { headers: { origin, authorization: `Bearer ${ACME}` } },
    ]) {
      const response = await worker.fetch("/v1/teams/demo", init);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(response.headers.get("access-control-allow-credentials")).toBeNull();
      expect(response.headers.get("vary")).toContain("Origin");
      await response.body?.cancel();
    }
  });
});

test("a client that guesses keys stores nothing and pushes no tenant out of the list", async () => {
  for (let guess = 0; guess < 20; guess++) {
    expect((await send("/v1/whoami", (await createApiKey(`guess-${guess}`)).key)).status).toBe(401);
  }
  const listed = await (await send("/v1/tenants", OPERATOR)).text();
  expect(listed).not.toContain("guess-");
});
