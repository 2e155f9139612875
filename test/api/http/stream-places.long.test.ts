import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { TeamToken } from "troupe/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { openTab, startBrowser, testInBrowser } from "../../support/browser.ts";
import { jsonInit } from "../../support/http-app.ts";
import { PATIENCE } from "../../support/patience.ts";
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

test("a stream releases its place when its client has disconnected", async () => {
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

/** What the script of the page leaves in its window. */
interface Seen {
  seen: { states: number[]; frames: number };
}

testInBrowser("an EventSource reconnects after a refusal of a full team", async () => {
  await using full = await TestWorker.start({
    ...(await access()),
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_ORIGINS: "*",
    TENANT_STREAMS_PER_TEAM: "1",
  });
  const asBusy = (path: string, body: object): Promise<Response> =>
    full.fetch(path, jsonInit(body, "POST", bearer(BUSY)));
  await asBusy("/v1/teams", { id: "team", component: SAMPLE_COMPONENT });
  const tokens: string[] = [];
  for (const user of ["first", "second"]) {
    const made = await asBusy("/v1/teams/team/tokens", {
      scopes: ["runs:read"],
      user,
      expires_in: 60,
    });
    tokens.push(((await made.json()) as TeamToken).token);
  }
  const [first = "", second = ""] = tokens;
  const origin = await full.origin;
  const url = (token: string): string => `${origin}/v1/teams/team/events?token=${token}`;
  const occupant = get(url(first));
  const [{ statusCode }] = (await once(occupant, "response")) as [IncomingMessage];
  expect(statusCode).toBe(200);
  expect((await fetch(url(second))).status).toBe(429);

  const browser = await startBrowser();
  try {
    const page = await openTab(browser);
    // A page of another origin.
    await page.goto(`${origin.replace("127.0.0.1", "localhost")}/healthz`);
    await page.evaluate((address) => {
      const seen: Seen["seen"] = { states: [], frames: 0 };
      Object.assign(globalThis, { seen });
      const source = new EventSource(address);
      source.addEventListener("error", () => seen.states.push(source.readyState));
      for (const name of ["run", "caught_up"]) {
        source.addEventListener(name, () => seen.frames++);
      }
    }, url(second));
    const seen = (): Promise<Seen["seen"]> =>
      page.evaluate(() => (globalThis as unknown as Seen).seen);
    // 0 is CONNECTING; one that gave up is CLOSED, 2.
    await expect.poll(seen, PATIENCE).toEqual({ states: [0], frames: 0 });
    // The runtime does not notice at once that a connection was only closed.
    occupant.on("error", () => undefined).socket?.resetAndDestroy();
    await expect.poll(async () => (await seen()).frames, PATIENCE).toBeGreaterThan(0);
    expect((await seen()).states).not.toContain(2);
  } finally {
    await browser.close();
  }
});
