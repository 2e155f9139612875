import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { McpWorkbench } from "troupe";
import type { McpServerParams, SandboxAddress, ToolCallContext } from "troupe";
import { RecordingHost } from "../../core/support/recording-host.ts";
import { PEER_PACKAGES } from "../../peers/packages.ts";
import { Sandbox } from "../../support/sandbox.ts";
import { call, textsOf } from "./support/calls.ts";

// MCP's reference servers, as programs in the sandbox.

const modules = join(PEER_PACKAGES, "@modelcontextprotocol");

/** A program of the npm package of one of MCP's reference servers. */
function server(name: string, args: string[] = []): McpServerParams {
  return {
    type: "StdioServerParams",
    command: "node",
    args: [join(modules, `server-${name}/dist/index.js`), ...args],
    readTimeoutSeconds: 20,
  };
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start({
    settings: { SANDBOX_MCP: "1", SANDBOX_READABLE: PEER_PACKAGES },
  });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function using(
  params: McpServerParams,
  run: (workbench: McpWorkbench) => Promise<void>,
): Promise<void> {
  const address: SandboxAddress = { url: sandbox.url, apiKey: sandbox.key };
  const workbench = new McpWorkbench({ serverParams: params }, { sandbox: address });
  try {
    await run(workbench);
  } finally {
    await workbench.close();
  }
}

/** Contexts whose steps belong to a sandbox session. */
function inSession(session: string): () => Partial<ToolCallContext> {
  return () => ({ ctx: new RecordingHost(session).attempt() });
}

test("server-everything shows tools, progress and images", async () => {
  await using(server("everything"), async (workbench) => {
    const names = (await workbench.listTools({ ctx: new RecordingHost().attempt() })).map(
      ({ name }) => name,
    );
    expect(names).toContain("echo");
    const echoed = await call(workbench, "echo", { message: "hi" });
    expect(textsOf(echoed.result)).toEqual(["Echo: hi"]);
    const sum = await call(workbench, "get-sum", { a: 2, b: 3 });
    expect(textsOf(sum.result)[0]).toContain("5");
    const image = await call(workbench, "get-tiny-image");
    expect(image.result.result.map(({ type }) => type)).toContain("ImageResultContent");
    const long = await call(workbench, "trigger-long-running-operation", {
      duration: 0.4,
      steps: 2,
    });
    expect(long.items.length).toBeGreaterThan(0);
  });
});

test("server-memory finds its graph again in a file of the session", async () => {
  const start = `MEMORY_FILE_PATH="$PWD/graph.jsonl" exec node ${modules}/server-memory/dist/index.js`;
  const params: McpServerParams = {
    type: "StdioServerParams",
    command: "sh",
    args: ["-c", start],
    readTimeoutSeconds: 20,
  };
  const ctx = inSession("memory");
  await using(params, async (workbench) => {
    const entities = [{ name: "Ada", entityType: "person", observations: ["writes"] }];
    const { result } = await call(workbench, "create_entities", { entities }, undefined, ctx());
    expect(result.is_error).toBe(false);
  });
  const graph = () => sandbox.request("/v1/sessions/memory/files/graph.jsonl");
  await expect.poll(async () => (await graph()).status).toBe(200);
  await using(params, async (workbench) => {
    const found = await call(workbench, "search_nodes", { query: "Ada" }, undefined, ctx());
    expect(textsOf(found.result)[0]).toContain("writes");
  });
});

test("server-filesystem works in the session's files, which it leaves behind", async () => {
  const session = "files";
  const put = await sandbox.request(`/v1/sessions/${session}/files/in.txt`, {
    method: "PUT",
    body: "from the client",
  });
  expect(put.status).toBe(201);
  await using(server("filesystem", ["."]), async (workbench) => {
    const ctx = inSession(session);
    const read = await call(workbench, "read_text_file", { path: "in.txt" }, undefined, ctx());
    expect(textsOf(read.result)).toEqual(["from the client"]);
    await call(workbench, "write_file", { path: "out.txt", content: "new" }, undefined, ctx());
  });
  await expect
    .poll(async () => (await sandbox.request(`/v1/sessions/${session}/files/out.txt`)).text())
    .toBe("new");
});
