import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { listeningPorts } from "../support/listening-ports.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";

const FOREIGN = [
  "Host: localhost\r\nOrigin: https://evil.example",
  "Host: evil.example",
  "Host: evil.example\r\nOrigin: http://evil.example",
  "Host: localhost\r\nOrigin: null",
];

const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";

/** What a page in a browser could send. */
function requests(headers: string): string[] {
  const paths = [
    "/",
    "/json",
    "/json/list",
    "/healthz",
    "/v1/teams",
    "/cdn-cgi/explorer",
    "/core/log",
  ];
  return [
    ...paths.map((path) => `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`),
    ...["/", "/core:user:troupe", "/v1/teams"].map(
      (path) =>
        `GET ${path} HTTP/1.1\r\n${headers}\r\n${UPGRADE}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    ),
    `POST /core/log HTTP/1.1\r\n${headers}\r\nMF-Log-Level: 3\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`,
  ];
}

async function statusOf(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  let answer = "";
  // Not all of the answer: the connection of one that was not asked to close it stays open.
  for await (const part of socket.setEncoding("utf8")) {
    answer += part;
    if (answer.includes("\r\n\r\n")) break;
  }
  return /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? "closed";
}

async function start(args: string[] = []): Promise<{ server: NpmStart; port: number }> {
  const persistTo = mkdtempSync(join(tmpdir(), "troupe-ports-"));
  const port = await freePort();
  const server = await NpmStart.ready({
    port,
    persistTo,
    args,
    sandbox: true,
    settings: { SANDBOX_ISOLATION: "process", SANDBOX_FORCE_PROCESS: "1" },
  });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(persistTo, { recursive: true, force: true });
  });
  return { server, port };
}

test.runIf(process.platform === "linux")(
  "npm start opens no port that a foreign page can use",
  async () => {
    const { server, port } = await start();
    const ports = listeningPorts(Number(server.pid));
    // The front server, the sandbox, and the proxy of outgoing requests.
    expect(ports).toContain(port);
    expect(ports).toHaveLength(3);
    for (const open of ports) {
      for (const headers of FOREIGN) {
        for (const request of requests(headers)) {
          const status = await statusOf(open, request);
          expect({ open, request, status }).toMatchObject({ status: "403" });
        }
      }
    }
    const created = await fetch(
      `${server.url}/v1/teams`,
      jsonInit({ id: "t", template: "code_runner" }),
    );
    expect(created.status).toBe(201);
    const run = await fetch(
      `${server.url}/v1/teams/t/runs?wait=60`,
      jsonInit({ task: "```sh\necho $((6 * 7))\n```" }),
    );
    expect(JSON.stringify(await run.json())).toContain("42");
  },
);

test.runIf(process.platform === "linux")(
  "npm start -- --inspect opens the inspector, and explains it",
  async () => {
    const inspect = await freePort();
    const { server } = await start([`--inspect=${inspect}`]);
    expect(server.output).toMatch(
      /inspector .* open: 127\.0\.0\.1:\d+\. It does not check origins/,
    );
    expect(listeningPorts(Number(server.pid))).toContain(inspect);
    const socket = new WebSocket(`ws://127.0.0.1:${inspect}/core:user:troupe`);
    await once(socket, "open");
    const answer = new Promise<string>((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        if (String(data).includes('"id":1')) resolve(String(data));
      });
    });
    socket.send(JSON.stringify({ id: 1, method: "Runtime.getIsolateId" }));
    expect(JSON.parse(await answer)).toMatchObject({ result: { id: expect.any(String) } });
    socket.close();
  },
);

test("options of wrangler that open ports are refused", () => {
  for (const option of ["--inspector-port=9229", "--ip", "--port", "--tunnel"]) {
    expect(() =>
      execFileSync("npm", ["start", "--", option], { stdio: "pipe", encoding: "utf8" }),
    ).toThrow(/is not available.*--inspect=PORT/);
  }
});
