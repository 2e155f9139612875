/** Characters of output that are kept, as a sandbox keeps bytes. */
export const MAX_OUTPUT_LENGTH = 1_000_000;

/**
 * The entry of a Worker that runs a block as Node would: it prints lines, waits for timers, and ends with an exit code. Each line of
 * its response is JSON: `{ output }`, and at last `{ exit_code, truncated }`.
 */
const ENTRY = String.raw`
import { createRequire } from "node:module";
import process from "node:process";
import { format, inspect } from "node:util";

delete globalThis.caches;
const { stringify } = JSON;
const wait = globalThis.setTimeout;
const encoder = new TextEncoder();

let writer;
let ended = false;
let left = ${MAX_OUTPUT_LENGTH};
let truncated = false;
let pending = 0;
let indent = "";

function send(line) {
  writer.enqueue(encoder.encode(stringify(line) + "\n"));
}

function print(text) {
  if (ended || text === "") return;
  truncated ||= text.length > left;
  const kept = text.slice(0, left);
  left -= kept.length;
  if (kept !== "") send({ output: kept });
}

function end(code) {
  if (ended) return;
  send({ exit_code: code, truncated });
  ended = true;
  writer.close();
}

function fail(error) {
  print("Uncaught " + inspect(error) + "\n");
  end(1);
}

const line = (...values) => print((indent + format(...values)).replaceAll("\n", "\n" + indent) + "\n");
for (const name of ["log", "info", "debug", "error", "warn", "trace"]) console[name] = line;
console.dir = (value, options) => line(inspect(value, options));
console.table = (value) => line(value);
console.assert = (holds, ...values) => holds || line("Assertion failed:", ...values);
console.group = console.groupCollapsed = (...values) => {
  if (values.length > 0) line(...values);
  indent += "  ";
};
console.groupEnd = () => {
  indent = indent.slice(2);
};
const write = (text) => (print(String(text)), true);
for (const name of ["stdout", "stderr"]) Object.defineProperty(process, name, { value: { write, isTTY: false }, configurable: true });
process.exit = (code = process.exitCode ?? 0) => {
  end(Number(code) || 0);
  throw new Error("process.exit");
};
globalThis.require = createRequire("/");

/** Counts timers, for which Node would wait. */
function counted(name, clear, repeats) {
  const set = globalThis[name];
  const stop = globalThis[clear];
  const open = new Set();
  const close = (id) => open.delete(id) && pending--;
  globalThis[name] = (run, ...rest) => {
    const id = set((...given) => {
      if (!repeats) close(id);
      try {
        const result = run(...given);
        if (result instanceof Promise) result.catch(fail);
      } catch (error) {
        fail(error);
      }
    }, ...rest);
    open.add(id);
    pending++;
    return id;
  };
  globalThis[clear] = (id) => (close(id), stop(id));
}
counted("setTimeout", "clearTimeout", false);
counted("setInterval", "clearInterval", true);
counted("setImmediate", "clearImmediate", false);
const { scheduler } = globalThis;
if (scheduler) scheduler.wait = (ms) => new Promise((resolve) => globalThis.setTimeout(resolve, ms));

addEventListener("unhandledrejection", ({ reason }) => fail(reason));

async function run() {
  try {
    const { default: block } = await import("./block.js");
    await block();
    // What the block left running may set timers in its turn.
    for (let turns = 0; !ended && turns < 3; turns = pending > 0 ? 0 : turns + 1) {
      await new Promise((resolve) => wait(resolve, pending > 0 ? 5 : 0));
    }
    end(Number(process.exitCode ?? 0) || 0);
  } catch (error) {
    fail(error);
  }
}

export default {
  fetch() {
    const body = new ReadableStream({
      start(controller) {
        writer = controller;
        void run();
      },
    });
    return new Response(body);
  },
};
`;

/** The beginning of an import statement, which may not stand in a function; `import()` may. */
const IMPORT = /^[ \t]*import(?:[ \t{*"']|$)/;
/** The module's name at the end of an import statement. */
const MODULE = /(?:from|import)[ \t]*(?:"[^"]*"|'[^']*');?/;
/** The most lines of one import statement. */
const MOST_LINES = 100;

/**
 * The modules of a Worker that runs a block. The block is the body of a function, because the runtime gives modules no timers while
 * they load; its imports move in front of it, and its lines keep their numbers.
 */
export function blockModules(code: string): Record<string, string> {
  const imports: string[] = [];
  const lines = code.split("\n");
  for (let first = 0; first < lines.length; first++) {
    if (!IMPORT.test(lines[first] ?? "")) continue;
    const length = lines.slice(first, first + MOST_LINES).findIndex((line) => MODULE.test(line));
    if (length === -1) continue;
    const last = lines[first + length] ?? "";
    const name = MODULE.exec(last);
    const end = name === null ? 0 : name.index + name[0].length;
    imports.push(...lines.slice(first, first + length), `${last.slice(0, end)};`);
    lines.fill("", first, first + length);
    first += length;
    lines[first] = last.slice(end);
  }
  const block = `${imports.join(" ")}export default async function () {${lines.join("\n")}\n}\n`;
  return { "main.js": ENTRY, "block.js": block };
}
