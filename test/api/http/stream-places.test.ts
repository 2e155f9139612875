import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { TestWorker } from "../../support/worker.ts";
import { bearer } from "../protocols/support/access.ts";
import { inTurn, newTeam, writer } from "../protocols/support/teams.ts";
import { request, sent } from "../protocols/a2a/support/rpc.ts";

const BUSY = "busy-secret";
const QUIET = "quiet-secret";

let worker: TestWorker;

async function access(): Promise<Record<string, string>> {
  const keys = [BUSY, QUIET].map(async (key) => ({
    hash: await sha256Hex(key),
    tenant: "acme",
    scopes: SCOPES,
    name: key,
  }));
  return { TROUPE_OPEN: "", API_KEYS: JSON.stringify(await Promise.all(keys)) };
}

beforeAll(async () => {
  worker = await TestWorker.start({
    ...(await access()),
    TENANT_STREAMS_PER_TEAM: "6",
    TENANT_STREAMS_PER_CREDENTIAL: "4",
  });
  const component = SAMPLE_COMPONENT;
  const made = await worker.fetch(
    "/v1/teams",
    jsonInit({ id: "team", component }, "POST", bearer(BUSY)),
  );
  expect(made.status).toBe(201);
});
afterAll(() => worker[Symbol.asyncDispose]());

const open = (key: string, path: string, signal?: AbortSignal): Promise<Response> =>
  worker.fetch(path, { headers: { authorization: `Bearer ${key}` }, ...(signal && { signal }) });

test.for(["/v1/teams/team/events", "/v1/events"])(
  "%s: a credential that opens and drops streams blocks no other one, and can continue itself",
  async (path) => {
    for (let round = 0; round < 30; round++) {
      const left = new AbortController();
      expect((await open(BUSY, path, left.signal)).status).toBe(200);
      left.abort();
    }
    const quiet = [await open(QUIET, path), await open(QUIET, path)];
    expect(quiet.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of quiet) await body?.cancel();
  },
);

/**
 * Opens a stream and resets its connection: the runtime does not notice one that is only closed.
 *
 * @returns the status
 */
async function openAndReset(origin: string, key: string, path: string, body = ""): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const head = [
    `${body === "" ? "GET" : "POST"} ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${key}`,
    "a2a-version: 1.0",
    "content-type: application/json",
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.resetAndDestroy();
  return String(answer).slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
}

test("a stream gives its place back when its client has left", async () => {
  const url = "https://models.example.com/v1";
  await using busy = await TestWorker.start(
    {
      ...(await access()),
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: "test-key",
      SECRET_HOSTS: JSON.stringify({ OPENAI_API_KEY: [new URL(url).host] }),
      TENANT_STREAMS_PER_TENANT: "3",
    },
    // The model never answers.
    { outgoing: () => new Promise(() => undefined) },
  );
  const origin = await busy.origin;
  const feed = "/v1/teams/agent/events";
  await newTeam(busy, { id: "agent", component: inTurn(writer()) }, bearer(BUSY));
  const streams: [string, () => object | undefined][] = [
    [feed, () => undefined],
    ["/v1/events", () => undefined],
    ["/a2a/teams/agent", () => request("SendStreamingMessage", sent("Begin."))],
  ];
  // Without a word from the Worker the places would be free 15 s later, with the pings.
  const soon = { timeout: 12_000, interval: 50 };
  for (const [path, body] of streams) {
    for (let round = 0; round < 3; round++) {
      const busily = () => openAndReset(origin, BUSY, path, JSON.stringify(body()));
      await expect.poll(busily, { message: path, ...soon }).toBe("200");
    }
    await expect
      .poll(() => openAndReset(origin, QUIET, feed), { message: path, ...soon })
      .toBe("200");
  }
});
