import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { McpWorkbench } from "troupe";
import type { McpServerParams, SandboxAddress, ToolCallContext } from "troupe";
import { RecordingHost } from "../core/support/recording-host.ts";
import { ROOT } from "../support/npm-start.ts";
import { Sandbox } from "../support/sandbox.ts";
import { call, textsOf } from "./support/calls.ts";

const modules = join(ROOT, "node_modules/@modelcontextprotocol");

/** A program of the npm package of one of MCP's reference servers. */
function server(name: string, args: string[] = [], more = {}): McpServerParams {
  return {
    type: "StdioServerParams",
    command: "node",
    args: [join(modules, `server-${name}/dist/index.js`), ...args],
    readTimeoutSeconds: 20,
    ...more,
  };
}

/** A program with one tool, whose result is the text of an expression in `args`. */
function serverWith(name: string, expression: string): McpServerParams {
  const program = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...result }));
    const text = (args) => ${expression};
    if (id === undefined) return;
    if (method === "initialize")
      return answer({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "one", version: "1" } } });
    if (method === "tools/list")
      return answer({ result: { tools: [{ name: "${name}", inputSchema: { type: "object" } }] } });
    if (method === "tools/call")
      return answer({ result: { content: [{ type: "text", text: text(params.arguments) }] } });
    answer({ error: { code: -32601, message: "no such method" } });
  });`;
  return { type: "StdioServerParams", command: "node", args: ["-e", program] };
}

describe("a program in the sandbox", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.start({
      settings: { SANDBOX_MCP: "1", SANDBOX_READABLE: join(ROOT, "node_modules") },
    });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  async function using<T>(
    params: McpServerParams,
    run: (workbench: McpWorkbench) => Promise<T>,
  ): Promise<T> {
    const address: SandboxAddress = { url: sandbox.url, apiKey: sandbox.key };
    const workbench = new McpWorkbench(
      { serverParams: params },
      { sandbox: address, env: () => "from a secret" },
    );
    try {
      return await run(workbench);
    } finally {
      await workbench.close();
    }
  }

  const listed = (workbench: McpWorkbench) =>
    workbench.listTools({ ctx: new RecordingHost().attempt() });

  test("server-everything: tools, progress, images", async () => {
    await using(server("everything"), async (workbench) => {
      const names = (await listed(workbench)).map(({ name }) => name);
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
    await expect.poll(async () => (await graph()).status, { timeout: 10_000 }).toBe(200);
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
      .poll(async () => (await sandbox.request(`/v1/sessions/${session}/files/out.txt`)).text(), {
        timeout: 10_000,
      })
      .toBe("new");
  });

  test("has the environment of its config only, secrets included", async () => {
    const shown = 'Object.keys(process.env).sort().join() + " " + process.env.TOKEN';
    const params = { ...serverWith("env", shown), env: { TOKEN: "env:MCP_TOKEN" } };
    await using(params, async (workbench) => {
      const { result } = await call(workbench, "env");
      const [text = ""] = textsOf(result);
      expect(text).not.toContain("SANDBOX_KEY");
      expect(text).toContain(",TOKEN");
      expect(text).toMatch(/\[redacted\]$/);
    });
  });

  test("repeats no secret that is written out in its config, in no form", async () => {
    const shown = 'process.env.LOGIN + " " + Buffer.from(process.env.LOGIN).toString("base64url")';
    const params = { ...serverWith("env", shown), env: { LOGIN: 'written "out" in the config' } };
    await using(params, async (workbench) => {
      const { result } = await call(workbench, "env");
      expect(textsOf(result)).toEqual(["[redacted] [redacted]"]);
    });
  });

  test("that is killed in the middle of a call: the model reads it, and the next call starts it again", async () => {
    const params = serverWith("work", 'args.die ? process.kill(process.pid, "SIGKILL") : "done"');
    await using(params, async (workbench) => {
      const killed = await call(workbench, "work", { die: true });
      expect(killed.result.is_error).toBe(true);
      expect(textsOf(killed.result)[0]).toMatch(
        /ended with the exit code .* The call may or may not have taken effect\.$/,
      );
      const next = await call(workbench, "work", {});
      expect(textsOf(next.result)).toEqual(["done"]);
    });
  });

  test("that cannot be started, or ends, is an error with what it said", async () => {
    await using(
      { type: "StdioServerParams", command: "node", args: ["-e", "throw Error('no config')"] },
      async (workbench) => {
        const ctx = { step: once } as unknown as ToolCallContext["ctx"];
        await expect(workbench.listTools({ ctx })).rejects.toThrow(/exit code 1.*no config/s);
      },
    );
    await using({ type: "StdioServerParams", command: "no-such-program" }, async (workbench) => {
      const ctx = { step: once } as unknown as ToolCallContext["ctx"];
      await expect(workbench.listTools({ ctx })).rejects.toThrow(/exit code 127/);
    });
  });
});

/** A step whose effect runs once: a host would try again. */
const once = (_: string, effect: (attempt: object) => unknown): unknown =>
  effect({ signal: new AbortController().signal, attempt: 1, idempotencyKey: "key" });

/** Contexts whose steps belong to a sandbox session. */
function inSession(session: string): () => Partial<ToolCallContext> {
  return () => ({ ctx: new RecordingHost(session).attempt() });
}

test("a sandbox without real processes refuses, with the remedy", async () => {
  await using sandbox = await Sandbox.start({ settings: { SANDBOX_ISOLATION: "wasm" } });
  const address = { url: sandbox.url, apiKey: sandbox.key };
  const workbench = new McpWorkbench({ serverParams: server("memory") }, { sandbox: address });
  const { error } = await workbench.listTools({ ctx: new RecordingHost().attempt() }).then(
    () => ({ error: undefined }),
    (thrown: unknown) => ({ error: thrown }),
  );
  expect(error).toMatchObject({ code: "sandbox_refused", retryable: false });
  expect(String(error)).toMatch(/SANDBOX_ISOLATION=process.*SANDBOX_MCP=1/);
});
