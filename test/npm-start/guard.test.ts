import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";

let persistTo: string;
let server: NpmStart;
let internalPort: number;

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-guard-"));
  server = await NpmStart.ready({ port: await freePort(), persistTo });
  const { internal_port } = JSON.parse(readFileSync(join(persistTo, "server.json"), "utf8")) as {
    internal_port: number;
  };
  internalPort = internal_port;
}, 90_000);

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(persistTo, { recursive: true, force: true });
});

interface Sent {
  port?: number;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  json?: unknown;
  agent?: Agent;
}

/** `fetch` does not send a Host of one's choice. */
function send({ json, ...options }: Sent): Promise<{ status: number; body: string }> {
  const body = json === undefined ? undefined : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port: Number(new URL(server.url).port),
      ...options,
      headers: { ...(body && { "content-type": "application/json" }), ...options.headers },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      text(response).then(
        (got) => resolve({ status: response.statusCode ?? 0, body: got }),
        reject,
      );
    });
    sent.end(body);
  });
}

test("a name that was rebound to this address reads nothing, whatever it says about its URL", async () => {
  const headers = { host: "evil.example", "mf-original-url": "http://127.0.0.1/v1/templates" };
  for (const port of [undefined, internalPort]) {
    const { status, body } = await send({ ...(port && { port }), path: "/v1/templates", headers });
    expect({ status, code: JSON.parse(body) }).toMatchObject({
      status: 403,
      code: { code: "not_local" },
    });
  }
});

test("the internal port answers nobody who does not know the key", async () => {
  const headers = { "troupe-front-key": "guess" };
  for (const path of ["/v1/templates", "/v1/openapi.json", "/nowhere"]) {
    const { status, body } = await send({ port: internalPort, path, headers });
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ code: "not_local" });
  }
});

test("a malformed Host gets a problem document", async () => {
  const { status, body } = await send({ headers: { host: "local[host" } });
  expect({ status, body: JSON.parse(body) as unknown }).toMatchObject({
    status: 400,
    body: { code: "malformed_request" },
  });
});

test("refused requests leave the requests of other clients alone", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const good = {
    method: "POST",
    path: "/v1/components/validate",
    json: { component: SAMPLE_COMPONENT },
  };
  const bad = { method: "POST", json: { task: "x".repeat(2_000) } };
  const statuses: number[] = [];
  const key = /TROUPE_FRONT_KEY='([^']+)'/.exec(
    readFileSync(join(persistTo, "vars.env"), "utf8"),
  )?.[1];
  const headers = { "troupe-front-key": key ?? "" };
  // Past the front server, which would refuse them before they reach the Worker.
  const inner = { port: internalPort, headers: { ...headers, origin: "https://evil.example" } };
  for (let round = 0; round < 75; round++) {
    const answers = await Promise.all(
      [1, 2, 3, 4].flatMap(() => [
        send({ ...bad, ...inner, path: "/nowhere", agent }),
        send({ ...good, port: internalPort, headers, agent }),
      ]),
    );
    statuses.push(...answers.map(({ status }) => status));
  }
  agent.destroy();
  expect(statuses.filter((_, index) => index % 2 === 0).filter((status) => status !== 403)).toEqual(
    [],
  );
  expect(statuses.filter((_, index) => index % 2 === 1).filter((status) => status !== 200)).toEqual(
    [],
  );
}, 60_000);
