import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AnsweredRequest } from "#cli/server/process/log.ts";
import { Front } from "#cli/server/front/front.ts";
import { freePort } from "../../../support/ports.ts";

const KEY = "front-key";
const HOST = "127.0.0.1";
/** Longer than the front server waits between two attempts. */
const HOLD_MS = 300;
/** The origin of a program that ALLOWED_ORIGINS names. */
const PROGRAM = "app://obsidian.md";

let upstream: Server;
let front: Front;
let port: number;
let directory: string;
let entry: string;
/** Whether the disk is. */
let full: boolean;
/** What the front server logged. */
let lines: string[];
let handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

beforeEach(async () => {
  handle = (_, response) => void response.end("hello");
  directory = mkdtempSync(join(tmpdir(), "troupe-front-"));
  entry = join(directory, "entry");
  upstream = createServer((received, response) => void handle(received, response)).listen(entry);
  await once(upstream, "listening");
  port = await freePort();
  lines = [];
  const log = ({ method, url, status, ms }: AnsweredRequest): void =>
    void lines.push(`${method} ${url} ${status ?? "no answer"} (${ms} ms)`);
  full = false;
  front = new Front({
    host: HOST,
    port,
    socket: entry,
    key: KEY,
    open: true,
    origins: { origins: new Set([PROGRAM]), anyWithTeamToken: false },
    diskIsFull: () => full,
    commandForPort: (other) => `PORT=${other} npm start`,
    holdMs: HOLD_MS,
    log,
  });
  await front.listen();
});

afterEach(async () => {
  await front.close();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(directory, { recursive: true });
});

/** Sends bytes as they are and resolves with everything that comes back until the connection ends. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(port, HOST);
  socket.write(bytes);
  return text(socket);
}

function problemIn(answer: string): { status: number; code: string } {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toMatch(/^content-type: application\/problem\+json$/im);
  return JSON.parse(body) as { status: number; code: string };
}

describe("the server refuses", () => {
  const line = "GET / HTTP/1.1\r\nConnection: close\r\n";

  test.for([
    ["no Host", `${line}\r\n`],
    ["two Hosts", `${line}Host: localhost\r\nHost: localhost\r\n\r\n`],
    ["an empty Host", `${line}Host:\r\n\r\n`],
    ["a malformed Host", `${line}Host: local[host\r\n\r\n`],
    ["a Host with a user", `${line}Host: me@localhost\r\n\r\n`],
    ["a Host with an impossible port", `${line}Host: localhost:99999\r\n\r\n`],
    [
      "an absolute address",
      "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ],
    ["no path", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
    ["a text that is not HTTP", "hello\r\n\r\n"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ],
  ] as const)("%s as malformed", async ([, bytes]) => {
    const answer = await raw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(problemIn(answer)).toMatchObject({ status: 400, code: "malformed_request" });
  });

  test("headers that are too large", async () => {
    const answer = await raw(`${line}Host: localhost\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(problemIn(answer)).toMatchObject({ status: 431 });
  });

  test("a body that Cloudflare would not accept", async () => {
    const answer = await raw(
      `PUT /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100000001\r\n\r\n`,
    );
    expect(problemIn(answer)).toMatchObject({ status: 413, code: "body_too_large" });
  });

  test.for([
    ["a foreign Host", "Host: evil.example"],
    [
      "a foreign Host whatever the internal headers say",
      `Host: evil.example\r\nMF-Original-URL: http://127.0.0.1/`,
    ],
    ["a foreign Origin", "Host: localhost\r\nOrigin: https://evil.example"],
    ["a request that crosses sites", "Host: localhost\r\nSec-Fetch-Site: cross-site"],
  ] as const)("%s as not local", async ([, headers]) => {
    const answer = await raw(`${line}${headers}\r\n\r\n`);
    expect(problemIn(answer)).toMatchObject({ status: 403, code: "not_local" });
  });

  test("no request of an origin that is allowed by name", async () => {
    const headers = `Host: localhost\r\nOrigin: ${PROGRAM}\r\nSec-Fetch-Site: cross-site`;
    expect(await raw(`${line}${headers}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    const other = headers.replace(PROGRAM, "app://other");
    expect(await raw(`${line}${other}\r\n\r\n`)).toContain("ALLOWED_ORIGINS=app://other");
  });

  test.for(["/cdn-cgi/local/explorer", "/x/../cdn-cgi/handler", "/CDN-CGI/", "/__cf_local/stream"])(
    "%s, which miniflare would answer",
    async (path) => {
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      expect(problemIn(answer)).toMatchObject({ status: 404, code: "not_found" });
    },
  );

  test("everything while nothing listens behind it", async () => {
    upstream.close();
    const response = await fetch(`http://${HOST}:${port}/`);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ code: "temporarily_unavailable" });
  });
});

describe("a request for a stream while the Worker is not listening", () => {
  const stream = { accept: "text/event-stream" };

  test("is held until the Worker answers", async () => {
    upstream.close();
    const waiting = fetch(`http://${HOST}:${port}/events`, { headers: stream });
    await expect(fetch(`http://${HOST}:${port}/`)).resolves.toMatchObject({ status: 503 });
    upstream.listen(entry);
    expect(await (await waiting).text()).toBe("hello");
  });

  test.for([
    ["of an EventSource", stream, 200],
    ["with a credential", { ...stream, authorization: "Bearer k" }, 503],
    ["of a client that reads problems", { accept: `${stream.accept}, application/json` }, 503],
  ] as const)("is answered in the end if it is one %s", async ([, headers, status]) => {
    upstream.close();
    const response = await fetch(`http://${HOST}:${port}/events`, {
      headers: { ...headers, origin: PROGRAM },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe(PROGRAM);
    if (status !== 200) return;
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await response.text()).toBe("retry: 5000\n\n");
  });
});

describe("the server passes on", () => {
  test("the request as it came, without headers of the connection and of miniflare, with its key", async () => {
    let seen: IncomingMessage | undefined;
    let body = "";
    handle = async (received, response) => {
      seen = received;
      body = await text(received);
      response.writeHead(201, "Made", { "x-answer": "yes", location: "/there" }).end("done");
    };
    const answer = await raw(
      "POST /a//b?c=%20d HTTP/1.1\r\nHost: localhost:99\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n" +
        "MF-Original-URL: http://evil/\r\nTroupe-Front-Key: guess\r\nX-Kept: 1\r\nX-Kept: 2\r\nContent-Length: 4\r\n\r\nbody",
    );
    expect(seen).toMatchObject({ method: "POST", url: "/a//b?c=%20d" });
    expect(body).toBe("body");
    expect(seen?.headersDistinct).toEqual({
      host: ["localhost:99"],
      connection: ["keep-alive"],
      "content-length": ["4"],
      "x-kept": ["1", "2"],
      "cf-connecting-ip": ["127.0.0.1"],
      "troupe-front-key": [KEY],
    });
    expect(answer).toMatch(/^HTTP\/1\.1 201 Made\r\n/);
    expect(answer).toMatch(/x-answer: yes/);
    expect(answer).toMatch(/done/);
  });

  test("bodies of unknown length, also where none is usual", async () => {
    const bodies: string[] = [];
    handle = async (received, response) => {
      bodies.push(await text(received));
      response.end();
    };
    for (const method of ["POST", "GET"]) {
      await raw(
        `${method} / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      );
    }
    expect(bodies).toEqual(["hello", "hello"]);
  });

  test("requests of one connection one after the other, refused ones between them", async () => {
    const answer = await raw(
      "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 5\r\n\r\nabcde" +
        "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n" +
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 403",
      "HTTP/1.1 200",
      "HTTP/1.1 200",
    ]);
    expect(answer.match(/hello/g)).toHaveLength(1);
  });

  test("every event of a stream at once, and its head before the first", async () => {
    let stream: ServerResponse | undefined;
    handle = (_, response) => {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.flushHeaders();
    };
    const response = await fetch(`http://${HOST}:${port}/events`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
      stream?.write(event);
      expect(await reader.read()).toEqual({ done: false, value: event });
    }
    stream?.end();
    expect((await reader.read()).done).toBe(true);
  });

  test("requests that came during a reload of the Worker, once it is back", async () => {
    let count = 0;
    handle = (_, response) => void response.end(String(++count));
    front.hold();
    const waiting = fetch(`http://${HOST}:${port}/`);
    const refused = await raw(`GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    expect(refused).toMatch(/^HTTP\/1\.1 403 /);
    expect(count).toBe(0);
    front.release();
    expect(await (await waiting).text()).toBe("1");
  });

  test("requests, and logs how they were answered", async () => {
    handle = (_, response) => void response.writeHead(201).end();
    await (await fetch(`http://${HOST}:${port}/v1/teams?limit=1`)).text();
    await expect
      .poll(() => lines)
      .toEqual([expect.stringMatching(/^GET \/v1\/teams\?limit=1 201 \(\d+ ms\)$/)]);
  });

  test("the news that the client has disconnected", async () => {
    const closed = new Promise<void>((resolve) => {
      handle = (_, response) => {
        response.on("close", resolve);
        response.writeHead(200).flushHeaders();
      };
    });
    const leave = new AbortController();
    await fetch(`http://${HOST}:${port}/`, { signal: leave.signal });
    leave.abort();
    await closed;
  });

  test("the news that the server broke off in the middle of an answer", async () => {
    handle = (received, response) => {
      response.writeHead(200, { "content-length": 100 }).write("half");
      setImmediate(() => received.socket.destroy());
    };
    const response = await fetch(`http://${HOST}:${port}/`);
    await expect(response.text()).rejects.toThrow();
  });

  test("an early answer to a body that is still being sent", async () => {
    handle = (_, response) => void response.writeHead(413, { connection: "close" }).end("too much");
    const sending = request({ host: HOST, port, method: "POST", headers: { host: "localhost" } });
    sending.write("x".repeat(1000));
    const [answer] = (await once(sending, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    expect(await text(answer)).toBe("too much");
    sending.on("error", () => undefined).destroy();
  });
});

test("an error of the Worker on a full disk names the full disk", async () => {
  handle = (_, response) => void response.writeHead(500).end("{}");
  const get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  expect(await raw(get)).toMatch(/^HTTP\/1\.1 500 /);
  full = true;
  const answer = await raw(get);
  expect(answer).toMatch(/^HTTP\/1\.1 507 /);
  expect(problemIn(answer)).toMatchObject({ status: 507, code: "disk_full" });
});

describe("a closed server", () => {
  beforeEach(async () => {
    await front.close();
    front = new Front({
      host: HOST,
      port,
      socket: entry,
      key: KEY,
      open: false,
      origins: { origins: new Set(), anyWithTeamToken: false },
      diskIsFull: () => false,
      commandForPort: () => "npm start",
      log: () => undefined,
    });
    await front.listen();
  });

  test("leaves the check of the caller to the Worker", async () => {
    const answer = await raw(
      "GET / HTTP/1.1\r\nHost: troupe.example\r\nOrigin: https://app.example\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("passes on the headers of the API, and none that miniflare or npm start would trust", async () => {
    let seen: IncomingMessage | undefined;
    handle = (received, response) => {
      seen = received;
      response.end();
    };
    await raw(
      "GET /v1/whoami HTTP/1.1\r\nHost: troupe.example\r\nConnection: close\r\nAuthorization: Bearer k\r\n" +
        "Troupe-Tenant: acme\r\nTroupe-Front-Key: guess\r\nTroupe-Egress-Target: http://x/\r\n" +
        "MF-Original-URL: http://127.0.0.1/healthz\r\nmf-cf-blob: {}\r\nMF-Route-Override: x\r\n" +
        "CF-Connecting-IP: 203.0.113.7\r\n\r\n",
    );
    expect(seen?.headersDistinct).toEqual({
      host: ["troupe.example"],
      connection: ["keep-alive"],
      authorization: ["Bearer k"],
      "troupe-tenant": ["acme"],
      "cf-connecting-ip": ["127.0.0.1"],
      "troupe-front-key": [KEY],
    });
  });

  test.for(["Host: local[host", "Host: me@troupe.example", "Host: a\r\nHost: b", "X-None: 1"])(
    "refuses %j as malformed",
    async (host) => {
      const answer = await raw(`GET / HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
      expect(problemIn(answer)).toMatchObject({ status: 400, code: "malformed_request" });
    },
  );

  test("refuses the pages of miniflare", async () => {
    const answer = await raw("GET /cdn-cgi/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(problemIn(answer)).toMatchObject({ status: 404 });
  });

  test.for([
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n X-Folded: 1\r\n\r\n",
  ])("lets no client hide a second request in the first: %j", async (first) => {
    let count = 0;
    handle = (_, response) => void response.end(String(++count));
    const answer = await raw(`${first}GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    expect(count).toBe(0);
  });
});

describe("the client's address behind a proxy", () => {
  async function addressFor(forwarded: string): Promise<string> {
    const own = await freePort();
    const behind = new Front({
      host: HOST,
      port: own,
      socket: entry,
      key: KEY,
      open: false,
      origins: { origins: new Set(), anyWithTeamToken: false },
      behindProxy: true,
      diskIsFull: () => full,
      commandForPort: () => "troupe serve",
      log: () => undefined,
    });
    await behind.listen();
    handle = ({ headers }, response) => void response.end(headers["cf-connecting-ip"]);
    try {
      const headers = { "x-forwarded-for": forwarded, "cf-connecting-ip": "203.0.113.9" };
      return await (await fetch(`http://${HOST}:${own}/`, { headers })).text();
    } finally {
      await behind.close();
    }
  }

  test.each([
    ["the last one that was added", "198.51.100.1, 203.0.113.7", "203.0.113.7"],
    ["an address of IPv6", "2001:db8::1", "2001:db8::1"],
    ["the proxy's where none is valid", "198.51.100.1, unknown", HOST],
  ])("is %s", async (_, forwarded, address) => {
    expect(await addressFor(forwarded)).toBe(address);
  });
});

test("the server names the port that is taken and how to choose another one", async () => {
  const log = (): void => undefined;
  const second = new Front({
    host: HOST,
    port,
    socket: entry,
    key: KEY,
    open: true,
    origins: { origins: new Set([PROGRAM]), anyWithTeamToken: false },
    diskIsFull: () => full,
    commandForPort: (other) => `PORT=${other} npm start`,
    log,
  });
  await expect(second.listen()).rejects.toThrow(
    `Port ${port} is taken by another program. Choose another port: PORT=${port + 1} npm start`,
  );
});

describe("a request for a WebSocket", () => {
  const ask = (headers = ""): string =>
    `GET /openai/v1/responses HTTP/1.1\r\nHost: ${HOST}:${port}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n${headers}\r\n`;

  test("connects both sides, with the first bytes of each", async () => {
    const received: unknown[] = [];
    upstream.on("upgrade", ({ url, headers }: IncomingMessage, socket: Duplex, head: Buffer) => {
      received.push(url, headers["sec-websocket-key"], headers["mf-original-url"]);
      received.push(headers["troupe-front-key"]);
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst ",
      );
      socket.write(head);
      socket.pipe(socket);
    });
    const socket = connect(port, HOST);
    socket.write(`${ask("MF-Original-URL: http://evil.example/\r\n")}hello `);
    await once(socket, "data");
    socket.end("world");
    expect(`first ${await text(socket)}`).toMatch(/^first .*world$/s);
    expect(received).toEqual(["/openai/v1/responses", "abc", undefined, KEY]);
  });

  test("gets the Worker's refusal", async () => {
    handle = (_, response) => void response.writeHead(401, { "content-length": 3 }).end("No.");
    expect(await raw(ask())).toMatch(/^HTTP\/1\.1 401 [^]*No\.$/);
  });

  test("is refused if it comes from a page of another site", async () => {
    expect(problemIn(await raw(ask("Origin: https://evil.example\r\n")))).toMatchObject({
      status: 403,
    });
  });

  test("is refused for a moment while the Worker cannot be reached", async () => {
    upstream.close();
    await once(upstream, "close");
    expect(problemIn(await raw(ask()))).toMatchObject({ status: 503 });
  });
});

test("a request for another protocol is served without it", async () => {
  handle = async (received, response) => void response.end(await text(received));
  const answer = await raw(
    "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*hi/);
});
