import { describe, expect, test } from "vitest";
import { run } from "../../team/support/dynamic-workers.ts";

describe("A block of JavaScript", () => {
  test("prints lines and ends with exit code 0", async () => {
    const { pieces, ...result } = await run(
      'console.log("a", 1, { b: [2] });\nconsole.error("%s!", "c");\nprocess.stdout.write("d");',
    );
    expect(result).toEqual({ exit_code: 0, output: "a 1 { b: [ 2 ] }\nc!\nd" });
    expect(pieces.join("")).toBe(result.output);
  });

  test("may await, import modules of Node and require them", async () => {
    const code = `import { createHash } from "node:crypto";
const { join } = require("path");
const value = await new Promise((resolve) => setTimeout(resolve, 5, "late"));
console.log(value, join("a", "b"), createHash("sha256").update("x").digest("hex").slice(0, 4));`;
    expect(await run(code)).toMatchObject({ exit_code: 0, output: "late a/b 2d71\n" });
  });

  test("keeps its lines when imports move", async () => {
    const code = `import {
  basename,
  join,
} from "node:path"; // Two names.
import * as os from 'node:os'; const text = "import x from 'y'";
const later = await import("node:util");
console.log(basename("a/b"), join("a", "c"), typeof os.EOL, text, typeof later.format);
missing();`;
    const { exit_code, output } = await run(code);
    expect(exit_code).toBe(1);
    expect(output).toContain("b a/c string import x from 'y' function\n");
    expect(output).toMatch(/block\.js:8:/);
  });

  test("has what it left running in its output", async () => {
    const code = `async function main() {
  await new Promise((resolve) => setTimeout(resolve, 20));
  setTimeout(() => console.log("timer"), 20);
  console.log("main");
}
main();
console.log("first");`;
    expect(await run(code)).toMatchObject({ exit_code: 0, output: "first\nmain\ntimer\n" });
  });

  test("fails with exit code 1 and its error", async () => {
    const thrown = await run('console.log("before");\nmissing();');
    expect(thrown).toMatchObject({ exit_code: 1 });
    expect(thrown.output).toContain("before\nUncaught ReferenceError: missing is not defined");
    const syntax = await run("const = 1;");
    expect(syntax).toMatchObject({ exit_code: 1 });
    expect(syntax.output).toContain("SyntaxError");
    const rejected = await run('Promise.reject(new Error("left"));\nawait null;');
    expect(rejected).toMatchObject({ exit_code: 1 });
    expect(rejected.output).toContain("Error: left");
    const inTimer = await run('setTimeout(() => { throw new Error("in a timer"); }, 1);');
    expect(inTimer).toMatchObject({ exit_code: 1 });
    expect(inTimer.output).toContain("Error: in a timer");
  });

  test("ends with the code of process.exit", async () => {
    const code = 'console.log("a");\nprocess.exit(3);\nconsole.log("b");';
    expect(await run(code)).toMatchObject({ exit_code: 3, output: "a\n" });
    expect(await run("process.exitCode = 4;")).toMatchObject({ exit_code: 4, output: "" });
  });

  test("is followed by the next one, up to the first that fails", async () => {
    expect(
      await run(['console.log("a")', 'console.log("b");\nprocess.exit(2)', "c()"]),
    ).toMatchObject({
      exit_code: 2,
      output: "a\nb\n",
    });
  });

  test("shares the limit of output with those before it, whose end is known", async () => {
    const block = 'console.log("x".repeat(600_000));';
    const { exit_code, output } = await run([block, block, "process.exit(3)"]);
    expect(exit_code).toBe(3);
    const end = "\n[There was more output.]";
    expect(output.endsWith(end)).toBe(true);
    expect(output).toHaveLength(1_000_000 + end.length);
  });

  test("is refused where there are more than 32", async () => {
    const blocks = (count: number): string[] => Array.from({ length: count }, () => "1;");
    expect(await run(blocks(32))).toMatchObject({ exit_code: 0, output: "" });
    expect(await run(blocks(33))).toEqual({
      exit_code: 1,
      output: "The code was not run: it has 33 blocks of JavaScript, and at most 32 are allowed.",
      pieces: [],
    });
  });

  test("that waits too long ends with exit code 124 and the output so far", async () => {
    const code = 'console.log("a");\nawait new Promise(() => setInterval(() => undefined, 10));';
    expect(await run(code, 1)).toMatchObject({ exit_code: 124, output: "a\n" });
  });

  test("stops when its run is cancelled", async () => {
    const cancelled = new AbortController();
    const running = run(
      "await new Promise(() => setInterval(() => undefined, 10));",
      60,
      cancelled.signal,
    );
    setTimeout(() => cancelled.abort(new Error("cancelled")), 50);
    await expect(running).rejects.toThrow("cancelled");
  });
});
