import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../../../test/support/npm-start.ts";

/** Prints what is there of the names, before and after. */
const SCRIPT = `
const { stripRealm } = await import(${JSON.stringify(join(ROOT, "sandbox/wasm/child/realm.ts"))});
const found = [];
const globals = ["process", "fetch", "WebSocket", "Worker", "global", "navigator", "console"];
const ofProcess = ["kill", "_kill", "binding", "dlopen", "getBuiltinModule", "exit", "abort", "chdir", "reallyExit"];
const { process } = globalThis;
const { log } = console;
const look = () => found.push([
  ...globals.filter((name) => globalThis[name] !== undefined),
  ...ofProcess.filter((name) => process[name] !== undefined),
  ...(Reflect.has({}, "__proto__") ? ["__proto__"] : []),
]);
look();
stripRealm();
look();
// Timers and promises still work.
await new Promise((done) => setTimeout(done, 1));
log(JSON.stringify(found));
`;

test("no function that reaches out is left of Node", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--no-warnings",
    "--input-type=module",
    "--eval",
    SCRIPT,
  ]);
  const [before, after] = JSON.parse(stdout) as [string[], string[]];
  expect(before).toEqual(
    expect.arrayContaining(["process", "fetch", "kill", "binding", "__proto__"]),
  );
  expect(after).toEqual([]);
});
