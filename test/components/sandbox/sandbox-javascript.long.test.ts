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

function call(source: string, args: JsonObject = {}, seconds = 20) {
  const host = sandboxJavaScript({ url: sandbox.url, apiKey: sandbox.key });
  const run = runContext({ id: "r1", team: "t1", tenant: "acme", user: "ada" });
  return host.call({ source, args, run, seconds }, attempt());
}

function check(source: string): Promise<string | undefined> {
  return sandboxJavaScript({ url: sandbox.url, apiKey: sandbox.key }).check(source, attempt());
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

  test("is checked before it is called", async () => {
    expect(await check("export default () => 1;")).toBeUndefined();
    expect(await check("export const a = 1;")).toMatch(/must export a function as its default/);
    expect(await check("export default function (")).toMatch(/^SyntaxError/);
  });
});
