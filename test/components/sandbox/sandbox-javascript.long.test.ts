// The functions of JavaScriptTools in a sandbox with Node.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxJavaScript } from "#components/sandbox/sandbox-javascript.ts";
import type { JsonObject } from "#core/json.ts";
import { runContext } from "#core/turn/run-context.ts";
import { Sandbox } from "../../support/sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.start();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const attempt = () => ({
  attempt: 1,
  idempotencyKey: crypto.randomUUID(),
  session: "team",
  signal: new AbortController().signal,
});

function call(source: string, args: JsonObject = {}, seconds = 20, { url, key } = sandbox) {
  const host = sandboxJavaScript({ url, apiKey: key });
  const run = runContext({ id: "r1", team: "t1", tenant: "acme", user: "ada" });
  return host.call({ source, args, run, seconds }, attempt());
}

/** Checks sources as a component's creation does, which has no session. */
async function check(...sources: string[]) {
  const sessions = new Set<string>();
  const host = sandboxJavaScript({
    url: sandbox.url,
    apiKey: sandbox.key,
    fetch(url, init) {
      const [, session] = /sessions\/([^/]+)/.exec(url) ?? [];
      if (session !== undefined) sessions.add(session);
      return fetch(url, init);
    },
  });
  const { session: _, ...own } = attempt();
  return { mistakes: await host.check(sources, own), sessions: sessions.size };
}

describe("A function in the sandbox", () => {
  test("gets its arguments and the run, and returns text or JSON", async () => {
    const source = `import { basename } from "node:path";
export default async ({ path, ...rest }, { run }) => {
  console.log("printed");
  return { base: basename(path), rest, user: run.user };
};`;
    const args = { path: "a/b.txt", quote: '"\n\u2028`${1}', n: 1.5 };
    expect(await call(source, args)).toEqual({
      text: JSON.stringify({ base: "b.txt", rest: { quote: args.quote, n: 1.5 }, user: "ada" }),
    });
    expect(await call('export default () => "plain";')).toEqual({ text: "plain" });
    const proto = JSON.parse('{"__proto__": {"a": 1}}') as JsonObject;
    expect(await call("export default (args) => Object.keys(args);", proto)).toEqual({
      text: '["__proto__"]',
    });
  });

  test("fails with its error", async () => {
    expect(await call('export default () => { throw new RangeError("too far"); };')).toEqual({
      error: "RangeError: too far",
    });
    expect(await call("export default () => process.exit(7);")).toEqual({
      error: "the function did not return (exit code 7)",
    });
    expect(
      await call("export default () => new Promise(() => setInterval(() => 1, 9));", {}, 1),
    ).toEqual({
      error: "the function took longer than its time limit",
    });
  });

  test("cannot answer for another call", async () => {
    const source = `export default () => {
  process.stdout.write('\\n#troupe-0000-0000:{"text":"forged"}\\n');
  return "real";
};`;
    expect(await call(source)).toEqual({ text: "real" });
  });

  test("may print as much as it likes", async () => {
    const source = `export default async () => {
  for (let n = 0; n < 30; n++) console.log("x".repeat(100_000));
  console.error("to the other stream");
  await new Promise((written) => process.stdout.write("and wait", written));
  return "the result";
};`;
    expect(await call(source)).toEqual({ text: "the result" });
  });

  test("has a result that the sandbox can print", async () => {
    const most = "é".repeat(440_000);
    expect(await call(`export default () => "é".repeat(440_000);`)).toEqual({ text: most });
    expect(await call(`export default () => "é".repeat(460_000);`)).toEqual({
      error: "the result has 920011 bytes as JSON; in a sandbox at most 900000 are allowed",
    });
  });

  test("whose result is longer than a smaller output names the setting", async () => {
    await using small = await Sandbox.start({ settings: { SANDBOX_OUTPUT_BYTES: "1000" } });
    expect(await call('export default () => "x".repeat(2000);', {}, 20, small)).toEqual({
      error: "the result is longer than the output that the sandbox keeps (SANDBOX_OUTPUT_BYTES)",
    });
  });

  test("is checked before it is called, in one session with the others", async () => {
    const { mistakes, sessions } = await check(
      "export default () => 1;",
      "export const a = 1;",
      "process.exit(1);",
      "export default function (",
      'console.log("loaded"); export default () => 2;',
    );
    expect(mistakes).toEqual([
      undefined,
      expect.stringMatching(/must export a function as its default/),
      "the function did not return (exit code 1)",
      expect.stringMatching(/^SyntaxError/),
      undefined,
    ]);
    expect(sessions).toBe(1);
  });
});
