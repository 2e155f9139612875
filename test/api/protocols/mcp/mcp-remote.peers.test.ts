// mcp-remote, by which programs that can only start servers reach one at an address.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PEER_PACKAGES } from "../../../peers/packages.ts";
import { AGENT_SCOPES, type SignIn, startSignIn } from "./support/sign-in.ts";

const PROGRAM = join(PEER_PACKAGES, "mcp-remote/dist/proxy.js");
const ANSWER = [{ type: "text", text: expect.stringMatching(/./) }];

let stage: SignIn;
let issuer: SignIn["issuer"];
let origin: string;
/** Where the program keeps what it got. */
const folder = mkdtempSync(join(tmpdir(), "troupe-mcp-remote-"));

beforeAll(async () => {
  stage = await startSignIn();
  ({ issuer, origin } = stage);
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
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

test("a key in a header replaces the login", async () => {
  const header = ["--header", "Authorization:${TROUPE_AUTH}"];
  const started = await run([`${origin}/mcp`, ...header], { TROUPE_AUTH: "Bearer ada" });
  expect(started).toEqual({ pages: [], answer: ANSWER });
});
