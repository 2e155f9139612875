import { afterEach, describe, expect, test } from "vitest";
import { isolatedWorker } from "#components/worker-loader/worker-loader.ts";
import { body, call, run } from "../../team/support/dynamic-workers.ts";

const REFUSED = "This worker is not permitted to access the internet";

/** The text of an outcome. */
function textOf(outcome: { text: string } | { error: string }): string {
  return "text" in outcome ? outcome.text : outcome.error;
}

describe("The network", () => {
  test.for<[string, string]>([
    ["fetch", 'return (await fetch("https://example.com/")).text();'],
    ["fetch of this machine", 'return (await fetch("http://127.0.0.1:8787/healthz")).text();'],
    [
      "a socket",
      'const { connect } = await import("cloudflare:sockets"); const socket = connect("127.0.0.1:80"); await socket.opened; return "open";',
    ],
    [
      "a WebSocket",
      'return new Promise((resolve, reject) => { const socket = new WebSocket("ws://127.0.0.1/"); socket.onopen = () => resolve("open"); socket.onerror = (event) => reject(new Error(event.message)); });',
    ],
    [
      "node:net",
      'const net = await import("node:net"); return new Promise((resolve, reject) => net.connect(80, "127.0.0.1").on("connect", () => resolve("open")).on("error", reject));',
    ],
    [
      "node:http",
      'const http = await import("node:http"); return new Promise((resolve, reject) => http.get("http://127.0.0.1/", () => resolve("open")).on("error", reject));',
    ],
  ])("is out of reach by %s", async ([, text]) => {
    expect(await body(text)).toEqual({ error: expect.stringContaining(REFUSED) as string });
    expect(await run(`await (async () => { ${text} })();`)).toMatchObject({
      exit_code: 1,
      output: expect.stringContaining(REFUSED) as string,
    });
  });

  test.for<[string, string]>([
    [
      "EventSource",
      'return new Promise((resolve, reject) => { const source = new EventSource("http://127.0.0.1/"); source.onopen = () => resolve("open"); source.onerror = () => reject(new Error("refused")); });',
    ],
    [
      "names",
      'return JSON.stringify(await (await import("node:dns/promises")).resolve4("example.com"));',
    ],
    ["caches", 'await caches.default.put("http://x/", new Response("x")); return "stored";'],
  ])("is out of reach by %s", async ([, text]) => {
    expect(await body(text)).toHaveProperty("error");
  });
});

describe("A dynamic Worker", () => {
  test("has no binding, setting or secret of the server", async () => {
    const text = await body(`const { env } = await import("cloudflare:workers");
return { env, process: process.env, context };`);
    expect(JSON.parse(textOf(text))).toEqual({
      env: {},
      process: {},
      context: { run: { id: "r1", team: "t1", tenant: "acme", user: "ada", metadata: {} } },
    });
  });

  test("has no file but its own source", async () => {
    const text = await body(`const fs = await import("node:fs");
return [fs.readdirSync("/"), fs.readdirSync("/bundle"), fs.readdirSync("/tmp")];`);
    expect(JSON.parse(textOf(text))).toEqual([
      ["bundle", "tmp", "dev"],
      ["main.js", "call.js", "source_code.js"],
      [],
    ]);
  });

  test.for<[string, string, string]>([
    ["eval", 'return eval("1 + 1");', "EvalError"],
    ["new Function", 'return new Function("return 1")();', "EvalError"],
    [
      "WebAssembly",
      "await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));",
      "CompileError",
    ],
    [
      "process of its own",
      '(await import("node:child_process")).execSync("id");',
      "not implemented",
    ],
    ["thread", 'new (await import("node:worker_threads")).Worker("x");', "not implemented"],
    ["module of the runtime", 'await import("cloudflare-internal:workers");', "No such module"],
    ["module of the network", 'await import("https://example.com/a.js");', "No such module"],
    ["module of the server", 'await import("../worker.js");', "No such module"],
    ["stack without end", "const again = () => again(); again();", "RangeError"],
  ])("has no %s", async ([, text, error]) => {
    expect(await body(text)).toEqual({ error: expect.stringContaining(error) as string });
  });

  test("that ends its own isolate leaves the next call alone", async () => {
    expect(await body("process.exit(1);")).toHaveProperty("error");
    expect(await body("process.abort();")).toHaveProperty("error");
    expect(await body('return "alive";')).toEqual({ text: "alive" });
  });

  test("has a limit of what it may compute, whatever its time limit is", () => {
    expect(isolatedWorker({ "main.js": "" }, 5)).toMatchObject({
      env: {},
      globalOutbound: null,
      limits: { cpuMs: 5_000 },
    });
    expect(isolatedWorker({ "main.js": "" }, 300).limits.cpuMs).toBe(30_000);
  });
});

describe("Globals", () => {
  const counter = "let calls = 0;\nexport default () => ++calls;";
  const tamper = `export default ({ steal }) => {
  globalThis.kept ??= [];
  globalThis.kept.push(steal ?? "nothing");
  return globalThis.kept;
};`;

  test("belong to one tenant", async () => {
    const first = await call(tamper, { args: { steal: "of acme" }, tenant: "acme" });
    expect(first).toEqual({ text: '["of acme"]' });
    expect(await call(tamper, { tenant: "other" })).toEqual({ text: '["nothing"]' });
    expect(await call(tamper, { tenant: "acme" })).toEqual({ text: '["of acme","nothing"]' });
  });

  test("belong to one source", async () => {
    await call(counter);
    expect(await call(`${counter}\n// Another text.`)).toEqual({ text: "1" });
  });

  test("stay as they are where another source changes prototypes", async () => {
    await body('Array.prototype.map = () => ["tampered"]; JSON.parse = () => ({}); return "";');
    expect(await body("return [1].map((n) => n + 1);")).toEqual({ text: "[2]" });
    expect(["a", "b"].map((text) => text)).toEqual(["a", "b"]);
  });

  test("belong to one block", async () => {
    const blocks = ["globalThis.kept = 1;", "console.log(globalThis.kept);"];
    expect(await run(blocks)).toMatchObject({ exit_code: 0, output: "undefined\n" });
  });
});

describe("A result or an output", () => {
  afterEach(() => expect(Object.prototype).not.toHaveProperty("polluted"));

  test("is cut or refused if it is huge", async () => {
    expect(await body('return "x".repeat(2_000_000);')).toEqual({
      error: "the result has 2000000 characters; at most 1000000 are allowed",
    });
    const printed = await run('for (let n = 0; n < 300; n++) console.log("x".repeat(10_000));');
    expect(printed.exit_code).toBe(0);
    expect(printed.output.length).toBeLessThan(1_000_100);
    expect(printed.output).toMatch(/\[There was more output\.]$/);
  });

  test("is cut even if a block does not count what it prints", async () => {
    const lies = "String.prototype.slice = function () { return String(this); };";
    const huge = `${lies}\nfor (let n = 0; n < 3; n++) console.log("x".repeat(700_000));`;
    const { pieces, exit_code, output } = await run([huge, huge]);
    expect(exit_code).toBe(0);
    expect(pieces.join("")).toHaveLength(1_000_000);
    expect(output).toBe(`${pieces.join("")}\n[There was more output.]`);
  });

  /** Calls a source that changed the module which reports results, in the call before. */
  async function second(changes: string): Promise<object> {
    const source = `export default () => {\n${changes}\nreturn 1;\n};`;
    expect(await call(source)).toEqual({ text: "1" });
    return call(source);
  }

  test("is an error if it breaks the module that reports it", async () => {
    expect(await second('Response.json = () => "no response";')).toHaveProperty("error");
    expect(await second('Response.json = () => new Response("{");')).toHaveProperty("error");
    expect(await second("Response.json = () => new Response('{\"text\":1}');")).toHaveProperty(
      "error",
    );
    expect(await second("Request.prototype.json = () => null;")).toHaveProperty("error");
  });

  test("is bounded even if the module that reports it is replaced", async () => {
    const endless = `Response.json = () => {
  const chunk = new Uint8Array(1_000_000).fill(120);
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
};`;
    expect(await second(endless)).toEqual({ error: "the result is too long" });
  });

  test("cannot pollute the prototypes of the server", async () => {
    const forged = `Response.json = () => new Response('{"text":"ok","__proto__":{"polluted":1}}');`;
    expect(await second(forged)).toEqual({ text: "ok" });
  });

  test("is an error if it is not JSON", async () => {
    expect(await body("return () => 1;")).toEqual({
      error: "the function returned a function, which is not JSON",
    });
    expect(await body("return 1n;")).toEqual({
      error: expect.stringContaining("BigInt") as string,
    });
    expect(await body("const a = {}; a.a = a; return a;")).toEqual({
      error: expect.stringContaining("circular") as string,
    });
    expect(await body("throw { toString() { throw 1; } };")).toEqual({
      error: "an error that has no text",
    });
  });

  test("is never waited for beyond the time limit", async () => {
    expect(await body("await new Promise(() => {});", { seconds: 1 })).toHaveProperty("error");
    expect(
      await body("await new Promise(() => setInterval(() => {}, 10));", { seconds: 1 }),
    ).toEqual({
      error: "the function took longer than 1 seconds",
    });
  });
});
