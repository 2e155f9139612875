import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "conformance-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, trace: object | string): void {
  writeFileSync(join(folder, name), typeof trace === "string" ? trace : JSON.stringify(trace));
}

function play(...places: string[]): { lines: string[]; status: number | null } {
  const { stdout, status } = spawnSync(process.execPath, [main, ...places], { encoding: "utf8" });
  return { lines: stdout.trimEnd().split("\n"), status };
}

const text = {
  id: "m1",
  source: "a",
  models_usage: null,
  metadata: {},
  content: "x",
  type: "TextMessage",
};
const views = {
  dump: text,
  text: "x",
  kind: "chat",
  model_text: "x",
  model_message: { content: "x", source: "a", type: "UserMessage" },
};
const trace = (name: string, ...steps: object[]): object => ({ format: 1, name, steps });

/** Milliseconds for tests that start processes, on a machine that has other things to do. */
const STARTS_NODE = 30_000;

test(
  "each failure is reported in a line, and the other traces are played",
  { timeout: STARTS_NODE },
  () => {
    mkdirSync(join(folder, "deep"));
    write("deep/good.json", trace("x/good", { op: "message", input: text, ...views }));
    write("a.json", "no json");
    write("b.json", { format: 2 });
    write("c.json", trace("x/unknown-op", { op: "dance" }));
    write("d.json", trace("x/no-subject", { op: "run", task: "go", events: [] }));
    write("e.json", trace("x/different", { op: "message", input: text, ...views, text: "y" }));
    write("f.json", {
      ...trace("x/no-component"),
      component: { provider: "a.b.Nothing", config: {} },
    });
    write("g.json", trace("x/no-messages", { op: "check" }));
    const { lines, status } = play(folder);
    expect(status).toBe(1);
    expect(lines.at(-1)).toBe("1 passed, 7 failed");
    expect(lines).toHaveLength(8);
    expect(lines).toContain('FAIL x/different step 0 (message): text: expected "y", got "x"');
    expect(lines).toContain(
      "FAIL x/unknown-op step 0 (dance): op: expected a known operation, got dance",
    );
  },
);

test("a step that lacks a required item is a failure, and unread keys are reported", () => {
  const thought = { ...text, type: "ThoughtEvent" };
  const shown = { dump: thought, text: "x", kind: "event" };
  write("a.json", trace("x/missing", { op: "message", input: thought, ...shown, model_text: "x" }));
  write("b.json", { ...trace("x/unread", { op: "reset", soft: true, error: {} }), remark: "-" });
  expect(play(folder)).toEqual({
    lines: [
      'FAIL x/missing step 0 (message): model_text: expected "x", got nothing',
      "note x/unread: nobody reads remark",
      "note x/unread: nobody reads steps[0].soft",
      "1 passed, 1 failed",
    ],
    status: 1,
  });
});

test("a server over HTTP has the same report", () => {
  const { component, ...recorded } = JSON.parse(
    readFileSync(new URL("traces/assistant/text.json", import.meta.url), "utf8"),
  ) as { component: object; steps: { events?: { content?: string }[] }[] };
  write("a.json", { ...recorded, name: "x/good", component });
  recorded.steps[0]!.events![1]!.content = "other";
  write("b.json", { ...recorded, name: "x/different", component });
  write("c.json", { ...recorded, name: "x/refused", component: { provider: "No", config: {} } });
  const { lines, status } = play("--http", folder);
  expect(status).toBe(1);
  expect(lines).toEqual([
    'FAIL x/different step 0 (run): events[1].content: expected "other", got "Hello there, friend."',
    expect.stringMatching(/^FAIL x\/different \(evicted\) step 0 \(run\): events\[1\].content/),
    expect.stringMatching(/^FAIL x\/refused: component: .*unknown provider "No"/),
    expect.stringMatching(/^FAIL x\/refused \(evicted\): component: .*unknown provider "No"/),
    "1 passed, 2 failed",
  ]);
});

test("traces that all pass give exit code 0", { timeout: STARTS_NODE }, () => {
  write("good.json", trace("x/good", { op: "message", input: text, ...views }));
  expect(play(folder)).toEqual({ lines: ["1 passed, 0 failed"], status: 0 });
});

test("a folder that is missing or empty is a failure", { timeout: STARTS_NODE }, () => {
  expect(play(folder).status).toBe(1);
  expect(play(join(folder, "nowhere")).lines.at(-1)).toBe("0 passed, 1 failed");
});
