// mcp-remote, by which programs that can only start servers reach one at an address.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PEER_PACKAGES } from "../../../peers/packages.ts";
import { freePort } from "../../../support/ports.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { bearer, deployed } from "../support/access.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../support/authorization-server.ts";
import { newTeam } from "../support/teams.ts";

const PROGRAM = join(PEER_PACKAGES, "mcp-remote/dist/proxy.js");
const AGENT_SCOPES = ["teams:read", "runs:read", "runs:write", "requests:write"];

const ANSWER = [{ type: "text", text: expect.stringMatching(/./) }];

let issuer: AuthorizationServer;
let worker: TestWorker;
let origin: string;
/** Where the program keeps what it got. */
const folder = mkdtempSync(join(tmpdir(), "troupe-mcp-remote-"));

beforeAll(async () => {
  issuer = await startAuthorizationServer(AGENT_SCOPES);
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const settings = {
    JWT_ISSUER: issuer.issuer,
    JWT_AUDIENCE: origin,
    JWT_JWKS_URL: `${issuer.issuer}/jwks`,
  };
  worker = await TestWorker.start(await deployed(settings, ["ada"]), { port });
  await newTeam(worker, { id: "desk", label: "Desk", component: SAMPLE_COMPONENT }, bearer("ada"));
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

interface Started {
  /** Pages of the provider that the program asked its user to visit. */
  pages: string[];
  answer: unknown;
}

/** Starts the program as a client does, visits the pages that it asks for, and runs the team. */
async function run(args: string[], env: Record<string, string> = {}): Promise<Started> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, ...args],
    // Without a browser in PATH it writes the page's address.
    env: { MCP_REMOTE_CONFIG_DIR: folder, HOME: folder, PATH: "", ...env },
    stderr: "pipe",
  });
  const pages: string[] = [];
  let visited = Promise.resolve();
  let said = "";
  transport.stderr?.on("data", (bytes: Buffer) => {
    said += bytes.toString();
    const [page] = /http:\/\/\S+\/auth\?\S+(?=\s)/.exec(said) ?? [];
    if (page === undefined || pages.includes(page)) return;
    pages.push(page);
    visited = issuer.browse(new URL(page));
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  await visited;
  const { content } = await client.callTool({ name: "run_Desk", arguments: { task: "Hello." } });
  await client.close();
  return { pages, answer: content };
}

test("its user signs in once", async () => {
  const first = await run([`${origin}/mcp`]);
  expect(first).toEqual({ pages: [expect.any(String)], answer: ANSWER });
  const scope = new URL(first.pages[0] ?? "").searchParams.get("scope")?.split(" ");
  expect(scope).toEqual(expect.arrayContaining(AGENT_SCOPES));
  expect(await run([`${origin}/mcp`])).toEqual({ pages: [], answer: ANSWER });
});

test.each(["/mcp/", "/mcp/teams/desk"])("its user signs in for %s", async (path) => {
  expect(await run([origin + path])).toEqual({ pages: [expect.any(String)], answer: ANSWER });
});

test("a key in a header needs no user", async () => {
  const header = ["--header", "Authorization:${TROUPE_AUTH}"];
  const started = await run([`${origin}/mcp`, ...header], { TROUPE_AUTH: "Bearer ada" });
  expect(started).toEqual({ pages: [], answer: ANSWER });
});
