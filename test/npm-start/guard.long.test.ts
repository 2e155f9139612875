import { mkdtempSync, rmSync } from "node:fs";
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

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-guard-"));
  server = await NpmStart.ready({ port: await freePort(), persistTo });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(persistTo, { recursive: true, force: true });
});

interface Sent {
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

test("a name that was rebound to this address reads nothing, whatever its URL is", async () => {
  const headers = { host: "evil.example", "mf-original-url": "http://127.0.0.1/v1/templates" };
  const { status, body } = await send({ path: "/v1/templates", headers });
  expect({ status, code: JSON.parse(body) }).toMatchObject({
    status: 403,
    code: { code: "not_local" },
  });
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
  const headers = { origin: "https://evil.example" };
  const bad = { method: "POST", path: "/nowhere", json: { task: "x".repeat(2_000) }, headers };
  const statuses: number[] = [];
  for (let round = 0; round < 75; round++) {
    const answers = await Promise.all(
      [1, 2, 3, 4].flatMap(() => [send({ ...bad, agent }), send({ ...good, agent })]),
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
});
