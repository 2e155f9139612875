import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { McpWorkbench } from "troupe";
import type { JsonObject, McpServerParams, SandboxAddress, ToolCallContext } from "troupe";
import { parseJson } from "#core/json.ts";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import { testWith } from "../../../support/programs.ts";
import { Sandbox } from "../../../support/sandbox.ts";
import { call, textsOf } from "../support/calls.ts";

/** A program with one tool, whose result is the text of an expression in `args`, or of a promise. */
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
    if (method === "tools/call") {
      const show = (isError) => (shown) => answer({ result: { isError, content: [{ type: "text", text: String(shown) }] } });
      return Promise.resolve(text(params.arguments)).then(show(false), show(true));
    }
    answer({ error: { code: -32601, message: "no such method" } });
  });`;
  return { type: "StdioServerParams", command: "node", args: ["-e", program] };
}

describe("a program in the sandbox", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1" } });
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

  test("repeats no secret that is written out in its config, in any form", async () => {
    const shown = 'process.env.LOGIN + " " + Buffer.from(process.env.LOGIN).toString("base64url")';
    const params = { ...serverWith("env", shown), env: { LOGIN: 'written "out" in the config' } };
    await using(params, async (workbench) => {
      const { result } = await call(workbench, "env");
      expect(textsOf(result)).toEqual(["[redacted] [redacted]"]);
    });
  });

  test("gets an integer beyond 2^53 as it was written, and its answer is exact", async () => {
    // The line is shown as it was sent: the program's own numbers would change it.
    const args = parseJson('{"id":9007199254740993}') as JsonObject;
    const params = serverWith("pay", "line.match(/\\d{16}/)[0]");
    await using(params, async (workbench) => {
      const { result } = await call(workbench, "pay", args);
      expect(textsOf(result)).toEqual(["9007199254740993"]);
    });
  });

  test("that is killed in the middle of a call gives an error to the model, and the next call starts it again", async () => {
    const params = serverWith("work", 'args.die ? process.kill(process.pid, "SIGKILL") : "done"');
    await using(params, async (workbench) => {
      const killed = await call(workbench, "work", { die: true });
      expect(killed.result.is_error).toBe(true);
      expect(textsOf(killed.result)[0]).toMatch(
        /(was killed|exit code 137)\. .*the kernel.* The call may or may not have taken effect\.$/,
      );
      const next = await call(workbench, "work", {});
      expect(textsOf(next.result)).toEqual(["done"]);
    });
  });

  test("that cannot be started, or ends, is an error with its output", async () => {
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

test("a sandbox without real processes refuses programs, with the remedy", async () => {
  await using sandbox = await Sandbox.start({ settings: { SANDBOX_ISOLATION: "wasm" } });
  const address = { url: sandbox.url, apiKey: sandbox.key };
  const workbench = new McpWorkbench(
    { serverParams: serverWith("one", "1") },
    { sandbox: address },
  );
  const { error } = await workbench.listTools({ ctx: new RecordingHost().attempt() }).then(
    () => ({ error: undefined }),
    (thrown: unknown) => ({ error: thrown }),
  );
  expect(error).toMatchObject({ code: "sandbox_refused", retryable: false });
  expect(String(error)).toMatch(/SANDBOX_ISOLATION=process.*SANDBOX_MCP=1/);
});

testWith("bwrap")(
  "a program without a network that reaches nothing gets an error that names the setting",
  async () => {
    const connect =
      'new Promise((_, fail) => require("net").connect(9, "127.0.0.1").on("error", fail))';
    const fails = async (SANDBOX_NETWORK: string): Promise<string> => {
      await using sandbox = await Sandbox.start({
        settings: { SANDBOX_MCP: "1", SANDBOX_NETWORK },
      });
      const address = { url: sandbox.url, apiKey: sandbox.key };
      const serverParams = serverWith("connect", connect);
      const workbench = new McpWorkbench({ serverParams }, { sandbox: address });
      const { result } = await call(workbench, "connect");
      await workbench.close();
      expect(result.is_error).toBe(true);
      return textsOf(result).join(" ");
    };
    expect(await fails("0")).toMatch(/ECONNREFUSED.*SANDBOX_NETWORK=1/);
    expect(await fails("1")).toMatch(/ECONNREFUSED 127.0.0.1:9$/);
  },
);

test("a program that has ended when it is written to is an error with its exit", async () => {
  /** Sends the event that the program has ended. */
  let end = (): void => undefined;
  const event = (name: string, data: object): Uint8Array =>
    new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const started = (): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(events) {
          events.enqueue(event("started", { program: "one", workspace: "/work" }));
          end = () => {
            events.enqueue(event("exit", { exit_code: 127, stderr: "not found" }));
            events.close();
          };
        },
      }),
    );
  const refused = (): Response =>
    new Response(
      new ReadableStream<Uint8Array>(
        {
          pull(body) {
            const problem = { title: "Not Found", detail: "It ended.", code: "no_such_program" };
            body.enqueue(new TextEncoder().encode(JSON.stringify(problem)));
            body.close();
            // Later than the refusal.
            setImmediate(() => end());
          },
        },
        { highWaterMark: 0 },
      ),
      { status: 404, headers: { "content-type": "application/problem+json" } },
    );
  const address: SandboxAddress = {
    url: "http://sandbox.test",
    fetch: (url) => Promise.resolve(url.endsWith("/mcp") ? started() : refused()),
  };
  const params: McpServerParams = { type: "StdioServerParams", command: "no-such-program" };
  const workbench = new McpWorkbench({ serverParams: params }, { sandbox: address });
  const ctx = { step: once } as unknown as ToolCallContext["ctx"];
  await expect(workbench.listTools({ ctx })).rejects.toThrow(/exit code 127\. It said: not found/);
});
