import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { commandLines } from "../support/programs.ts";

let persistTo: string;
let port: number;
let server: NpmStart;
let apiKey: string;
let operatorKey: string;

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-auth-"));
  port = await freePort();
  server = await start();
  apiKey = keptIn("api-key");
  operatorKey = keptIn("operator-key");
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(persistTo, { recursive: true, force: true });
});

function start(): Promise<NpmStart> {
  return NpmStart.ready({ port, persistTo, args: ["--auth"], sandbox: true });
}

function keptIn(file: string): string {
  return readFileSync(join(persistTo, file), "utf8").trim();
}

function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}${path}`, { headers });
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

describe("npm start -- --auth", () => {
  test("prints new keys and a command that uses one, and keeps them where only their owner reads them", async () => {
    expect(server.output).toContain(`${apiKey}   (kept in ${join(persistTo, "api-key")})`);
    expect(server.output).toContain(
      `${operatorKey}   (kept in ${join(persistTo, "operator-key")})`,
    );
    for (const file of ["api-key", "operator-key"]) {
      expect(statSync(join(persistTo, file)).mode & 0o777).toBe(0o600);
      expect(keptIn(file)).toMatch(/^[\w-]{43}$/);
    }
    const [, url = "", header = ""] =
      /curl (\S+) -H "(authorization: Bearer \S+)"/.exec(server.output) ?? [];
    const response = await fetch(url, { headers: [header.split(": ") as [string, string]] });
    expect(await response.json()).toMatchObject({ tenant: "local", scopes: SCOPES });
  });

  test("gives the Worker hashes only, and no process the keys", async () => {
    const vars = readFileSync(join(persistTo, "vars.env"), "utf8");
    for (const key of [apiKey, operatorKey]) {
      expect(vars).toContain(await sha256Hex(key));
      expect(vars).not.toContain(key);
      expect(commandLines().join("\n")).not.toContain(key);
    }
  });

  test("refuses requests without a key, and accepts the operator's in the tenant it names", async () => {
    expect((await ask("/healthz")).status).toBe(200);
    expect((await ask("/v1/templates")).status).toBe(401);
    expect((await ask("/v1/templates", bearer("guess"))).status).toBe(401);
    expect((await ask("/v1/tenants", bearer(apiKey))).status).toBe(403);
    expect((await ask("/v1/tenants", bearer(operatorKey))).status).toBe(200);
    const acting = await ask("/v1/whoami", { ...bearer(operatorKey), "troupe-tenant": "acme" });
    expect(await acting.json()).toMatchObject({ tenant: "acme", kind: "operator" });
  });

  test("trusts no header about the address of a request", async () => {
    const send = (headers: Record<string, string>, to = port): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const sent = request({ host: "127.0.0.1", port: to, path: "/v1/whoami", headers });
        sent.on("error", reject).on("response", (response) => {
          json(response).then(resolve, reject);
        });
        sent.end();
      });
    // Rewritten by miniflare, the path would be that of the open health check.
    const rewritten = { "mf-original-url": "http://127.0.0.1/healthz" };
    expect(await send(rewritten)).toMatchObject({ code: "missing_credentials" });
    expect(await send({ host: "evil.example" })).toMatchObject({ code: "missing_credentials" });
    expect(await send({ host: "local[host" })).toMatchObject({ code: "malformed_request" });
  });

  test("has the same keys after a restart, and does not print them again", async () => {
    await server.interrupt();
    server = await start();
    expect(server.output).not.toContain(apiKey);
    expect(server.output).not.toContain(operatorKey);
    expect(server.output).toContain(`$(cat '${join(persistTo, "api-key")}')`);
    expect((await ask("/v1/whoami", bearer(apiKey))).status).toBe(200);
    expect((await ask("/v1/tenants", bearer(operatorKey))).status).toBe(200);
  });
});

test("npm start -- --help lists the options and starts nothing", async () => {
  const helped = new NpmStart({ port, persistTo: join(persistTo, "unused"), args: ["--help"] });
  expect(await helped.exit()).toBe(0);
  expect(helped.output).toContain("--auth");
  expect(() => statSync(join(persistTo, "unused"))).toThrow("ENOENT");
});
