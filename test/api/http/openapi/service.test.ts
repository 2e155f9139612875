import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import type { Principal } from "#api/auth/principal.ts";
import type { Scope } from "#contract/constants.ts";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import { closed } from "#api/auth/local.ts";
import { limitsFrom, MAX_REQUEST_BYTES } from "#api/http/endpoint/limits.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  components: { schemas: Record<string, unknown> };
}

describe("the OpenAPI document", () => {
  test("is valid", async () => {
    const document = await (await testApp().fetch("/v1/openapi.json")).json();
    const result = await new Validator().validate(document as Record<string, unknown>);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });

  test("has every reference it uses", async () => {
    const text = await (await testApp().fetch("/v1/openapi.json")).text();
    const document = JSON.parse(text) as Record<string, unknown>;
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
    expect(references.size).toBeGreaterThan(20);
    for (const reference of references) {
      let target: unknown = document;
      for (const key of String(reference).replace("#/", "").split("/")) {
        target = (target as Record<string, unknown>)[key];
      }
      expect(target, reference).toBeDefined();
    }
  });

  test("describes every operation with its problems", async () => {
    const document = (await (await testApp().fetch("/v1/openapi.json")).json()) as Document;
    const start = document.paths["/v1/teams/{team}/runs"]?.["post"]?.responses ?? {};
    expect(Object.keys(start)).toEqual([
      "200",
      "202",
      "400",
      "401",
      "403",
      "404",
      "409",
      "413",
      "415",
      "422",
      "429",
      "500",
      "503",
    ]);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(["Team", "Run", "TextMessage", "ToolCallRequestEvent", "Problem"]),
    );
  });
});

describe("the service", () => {
  test("reports its health without a credential", async () => {
    const { fetch } = testApp({ authenticate: closed });
    const response = await fetch("/healthz", { headers: { origin: "https://elsewhere.example" } });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", code: "off" });
    const versions = Object.entries(TABLE_VERSIONS).map((pair) => pair.join("="));
    expect(response.headers.get("troupe-tables")?.split(", ")).toEqual(versions);
  });

  test("is closed without keys", async () => {
    const { fetch } = testApp({ authenticate: closed });
    for (const path of ["/v1/teams/t", "/v1/openapi.json", "/v1/templates", "/nothing"]) {
      const response = await fetch(path);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ code: "auth_not_configured" });
    }
  });

  test("refuses a key without the scope", async () => {
    const { fetch } = testApp({
      authenticate: async () => principal("a", ["teams:read"]),
    });
    expect((await fetch("/v1/templates")).status).toBe(200);
    const response = await fetch("/v1/teams", jsonInit({ template: "sample" }));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: "missing_scope" });
  });

  test("keeps tenants apart", async () => {
    let tenant = "a";
    const { fetch } = testApp({
      authenticate: async () => principal(tenant, ["teams:read", "teams:write"]),
    });
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    tenant = "b";
    expect((await fetch("/v1/teams/t")).status).toBe(404);
  });

  test("lists templates and components, and validates components", async () => {
    const { fetch } = testApp();
    expect(await (await fetch("/v1/templates")).json()).toMatchObject({
      templates: [{ name: "sample" }],
    });
    const { components } = (await (await fetch("/v1/components")).json()) as {
      components: { provider: string; config: unknown }[];
    };
    expect(components.map(({ provider }) => provider)).toContain(SAMPLE_COMPONENT.provider);
    const valid = await fetch("/v1/components/validate", jsonInit({ component: SAMPLE_COMPONENT }));
    expect(valid.status).toBe(200);
    expect(await valid.json()).toEqual({ valid: true, notes: [] });
  });

  test("answers OPTIONS with the methods there are", async () => {
    const response = await testApp().fetch("/v1/teams/t", { method: "OPTIONS" });
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("GET, DELETE, HEAD, OPTIONS");
  });
});

describe("an open API accepts local requests only", () => {
  const ask = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
    (await testApp().fetch(url, { headers })).status;

  test.for([
    "http://localhost/v1/templates",
    "http://localhost:1/v1/templates",
    "http://127.0.0.1:8787/v1/templates",
    "http://[::1]:8787/v1/templates",
    "http://LOCALHOST:8787/v1/templates",
  ])("%s", async (url) => {
    expect(await ask(url)).toBe(200);
    expect(await ask(url, { origin: "http://localhost:3000" })).toBe(200);
    expect(await ask(url, { origin: "https://127.0.0.1" })).toBe(200);
    expect(await ask(url, { host: "localhost:8787", "sec-fetch-site": "same-origin" })).toBe(200);
  });

  test.for([
    "http://troupe.example/v1/templates",
    "http://localhost.example/v1/templates",
    "http://127.0.0.1.example/v1/templates",
    "http://0.0.0.0:8787/v1/templates",
    "http://192.168.1.2:8787/v1/templates",
    "http://localhost./v1/templates",
  ])("%s is not local", async (url) => {
    expect(await ask(url)).toBe(403);
  });

  test("a request that a browser was tricked to send is not local", async () => {
    const url = "http://localhost:8787/v1/templates";
    expect(await ask(url, { host: "evil.example" })).toBe(403);
    expect(await ask(url, { origin: "http://evil.example" })).toBe(403);
    expect(await ask(url, { origin: "null" })).toBe(403);
    expect(await ask(url, { "sec-fetch-site": "cross-site" })).toBe(403);
  });
});

describe("limits", () => {
  test("are settings", async () => {
    const limits = limitsFrom({ MAX_BODY_BYTES: "100", MAX_PAGE_SIZE: 10 });
    const { fetch } = testApp({ limits });
    const large = await fetch("/v1/teams", jsonInit({ template: "a".repeat(100) }));
    expect(large.status).toBe(413);
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    expect((await fetch("/v1/teams/t/runs?limit=11")).status).toBe(422);
    expect((await fetch("/v1/teams/t/runs?limit=10")).status).toBe(200);
  });

  test("count the bytes that arrive, whatever Content-Length says", async () => {
    const { fetch } = testApp({ limits: limitsFrom({ MAX_BODY_BYTES: "100" }) });
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_000_000;
        controller.enqueue(new Uint8Array(1_000_000));
      },
    });
    const response = await fetch("/v1/teams", {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "2" },
      body: endless,
      duplex: "half",
    });
    expect(response.status).toBe(413);
    // What the platform lets through is taken, so that the connection stays usable.
    expect(sent).toBeLessThan(MAX_REQUEST_BYTES + 5_000_000);
  });

  test.for(["0", "-1", "1.5", "many", "1e400"])("refuse the setting %s", (setting) => {
    expect(() => limitsFrom({ MAX_PAGE_SIZE: setting })).toThrow("MAX_PAGE_SIZE");
  });

  test("bound the files of a message by the size of a call to an object", () => {
    expect(() => limitsFrom({ MAX_MESSAGE_FILES_BYTES: "20000001" })).toThrow("at most 20000000");
  });
});

function principal(tenant: string, scopes: Scope[]): Principal {
  return { id: "static:key", tenant, scopes, kind: "static", name: null, expires_at: null };
}
