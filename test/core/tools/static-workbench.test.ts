import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { JsonObject, StepPolicy, ToolRun, Workbench } from "troupe";
import { FunctionTool, ModelError, StaticStreamWorkbench, StaticWorkbench } from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import { resultText } from "#core/tools/tool-result.ts";
import { outcome, RecordingHost } from "../support/recording-host.ts";

const add = new FunctionTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

/** A tool that runs `execute` and tells how often it did. */
function counted(policy: StepPolicy, execute: (run: ToolRun, count: number) => unknown) {
  const calls: ToolRun[] = [];
  const tool = new FunctionTool({
    name: "effect",
    description: "Has an effect.",
    parameters: z.object({}),
    policy,
    execute: (_, run) => {
      calls.push(run);
      return execute(run, calls.length);
    },
  });
  return { tool, calls };
}

function call(bench: Workbench, name: string, args: JsonObject, journal = new RecordingHost()) {
  return outcome(bench.callTool(name, args, { ctx: journal.attempt(), callId: "c1" }));
}

const text = (name: string, content: string, is_error = false) => ({
  type: "ToolResult",
  name,
  result: [{ type: "TextResultContent", content }],
  is_error,
});

describe.each([
  ["StaticWorkbench", StaticWorkbench],
  ["StaticStreamWorkbench", StaticStreamWorkbench],
])("a workbench that is %s", (_, Bench) => {
  const bench = new Bench([add], {
    toolOverrides: { add: { name: "plus", description: "Adds two." } },
  });

  test("shows tools under the names and descriptions of their overrides", async () => {
    expect(await bench.listTools()).toEqual([
      { ...add.schema, name: "plus", description: "Adds two." },
    ]);
  });

  test.each(["plus", "add"])("calls a renamed tool by %s", async (name) => {
    const { result } = await call(bench, name, { a: 1, b: 2 });
    expect(result).toEqual(text(name, "3"));
  });

  test("a failure is a result", async () => {
    const failing = counted("never", () => {
      throw new Error("broken: test\n");
    });
    const { result } = await call(new Bench([failing.tool]), "effect", {});
    expect(result).toEqual(text("effect", "broken: test", true));
  });

  test("wrong arguments are a result", async () => {
    const { result } = await call(bench, "add", { a: 1 });
    expect(result?.is_error).toBe(true);
  });

  test("an unknown name is a result", async () => {
    const { result } = await call(bench, "missing", {});
    expect(result).toEqual(text("missing", "Tool missing not found.", true));
  });

  test("dumps its overrides without fields that change nothing", () => {
    const only = new Bench([], { toolOverrides: { a: { name: "b", description: null } } });
    expect(only.toConfig()).toEqual({ tools: [], tool_overrides: { a: { name: "b" } } });
  });
});

test("an override may not take a name that is in use", () => {
  const other = new FunctionTool({
    name: "other",
    description: "",
    parameters: z.object({}),
    execute: () => "",
  });
  const rename = (toolOverrides: { [tool: string]: { name: string } }) => () =>
    new StaticWorkbench([add, other], { toolOverrides });
  expect(rename({ add: { name: "other" } })).toThrow(/"other" .* is taken/);
  expect(rename({ add: { name: "x" }, other: { name: "x" } })).toThrow(/"x" .* is taken/);
  expect(rename({ add: { name: "add" } })).not.toThrow();
});

describe("a long result", () => {
  const long = (content: string) => {
    const { tool } = counted("retry", () => content);
    return call(new StaticWorkbench([tool], { maxResultBytes: 10 }), "effect", {});
  };

  test("is cut with a note", async () => {
    const { result } = await long("0123456789abc");
    expect(result && resultText(result)).toBe(
      "0123456789\n[Cut: the result had 13 bytes, 10 are shown.]",
    );
  });

  test("is cut between characters", async () => {
    const { result } = await long("aéééééé");
    expect(result && resultText(result)).toBe(
      "aéééé\n[Cut: the result had 13 bytes, 10 are shown.]",
    );
  });

  test("that contains replacement characters is cut in linear time", async () => {
    const { tool } = counted("retry", () => "\uFFFD".repeat(300_000) + "x".repeat(200_000));
    const { result } = await call(new StaticWorkbench([tool]), "effect", {});
    expect(result && resultText(result)).toMatch(/x\n\[Cut: the result had 1100000 bytes/);
  });

  test("that just fits is not changed", async () => {
    const { result } = await long("ééééé");
    expect(result && resultText(result)).toBe("ééééé");
  });
});

describe("a call in a turn that is run again", () => {
  test("is not made if it has a result, even a failed one", async () => {
    const { tool, calls } = counted("retry", (_, count) => {
      throw new Error(`failure ${count}`);
    });
    const bench = new StaticWorkbench([tool]);
    const journal = new RecordingHost();
    const first = await call(bench, "effect", {}, journal);
    const second = await call(bench, "effect", {}, journal);
    expect(second).toEqual(first);
    expect(calls).toHaveLength(1);
  });

  test("is not repeated if its outcome is unknown, and says so", async () => {
    const { tool, calls } = counted("never", () => "sent");
    const bench = new StaticWorkbench([tool]);
    const journal = new RecordingHost();
    const dying = { ctx: journal.attempt({ during: "call" }), callId: "c1" };
    const first = await outcome(bench.callTool("effect", {}, dying));
    expect(first.error).toMatchObject({ kind: "superseded" });
    const { result } = await call(bench, "effect", {}, journal);
    expect(result).toMatchObject({ is_error: true });
    expect(result && resultText(result)).toMatch(/outcome is unknown/);
    expect(calls).toHaveLength(1);
  });

  test("is repeated under the same key if it is idempotent", async () => {
    const { tool, calls } = counted("retry", () => "done");
    const bench = new StaticWorkbench([tool]);
    const journal = new RecordingHost();
    const dying = { ctx: journal.attempt({ during: "call" }), callId: "c1" };
    await outcome(bench.callTool("effect", {}, dying));
    const { result } = await call(bench, "effect", {}, journal);
    expect(result).toEqual(text("effect", "done"));
    expect(calls.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["run/1/call", "run/1/call"]);
  });
});

test("a passing failure of an idempotent tool is tried again before it is a result", async () => {
  const { tool, calls } = counted("retry", (_, count) => {
    if (count < 3) throw new ModelError("connection", "no route");
    return "at last";
  });
  const { result } = await call(new StaticWorkbench([tool]), "effect", {});
  expect(result).toEqual(text("effect", "at last"));
  expect(calls).toHaveLength(3);
});

test("a passing failure that lasts becomes a result", async () => {
  const { tool, calls } = counted("retry", () => {
    throw new ModelError("connection", "no route");
  });
  const { result } = await call(new StaticWorkbench([tool]), "effect", {});
  expect(result).toEqual(text("effect", "no route (9 attempts in 120 seconds)", true));
  expect(calls).toHaveLength(9);
});

test("a cancel is not a failure of the tool", async () => {
  const journal = new RecordingHost();
  const { tool } = counted("never", () => {
    journal.cancel();
    throw new Error("aborted");
  });
  const { error } = await call(new StaticWorkbench([tool]), "effect", {}, journal);
  expect(error).toMatchObject({ kind: "cancel" });
});

describe("a tool with a state", () => {
  function counter() {
    let count = 0;
    const tool = new FunctionTool({
      name: "counter",
      description: "Counts.",
      parameters: z.object({}),
      execute: async () => {
        const now = count;
        await Promise.resolve();
        count = now + 1;
        return count;
      },
    });
    return Object.assign(tool, {
      saveState: () => ({ count }),
      loadState: (state: JsonObject) => {
        count = state.count as number;
      },
    });
  }

  test("has its state in the workbench's", () => {
    const bench = new StaticWorkbench([add, counter()]);
    const saved = { type: "StaticWorkbenchState", tools: { add: {}, counter: { count: 4 } } };
    bench.loadState(saved);
    expect(bench.saveState()).toEqual(saved);
  });

  test("is the only part that its host saves", () => {
    const tool = counter();
    const tree = new StateTree(new StaticWorkbench([add, tool]));
    expect(tree.changes().heads).toEqual([]);
    tool.loadState({ count: 2 });
    expect(tree.changes().heads).toEqual([{ path: "counter", value: { count: 2 } }]);
  });

  test("is in the same state after a replay, though it did not run", async () => {
    const journal = new RecordingHost();
    const twice = (bench: StaticWorkbench) =>
      outcome(
        journal.attempt().all(
          ["0", "1"].map((key) => ({
            key,
            run: (ctx) => bench.callTool("counter", {}, { ctx, callId: "c" }),
          })),
        ),
      );
    const first = new StaticWorkbench([counter()]);
    const { result } = await twice(first);
    expect(result?.map(resultText)).toEqual(["1", "2"]);
    const second = new StaticWorkbench([counter()]);
    expect((await twice(second)).result).toEqual(result);
    expect(second.saveState()).toEqual(first.saveState());
  });

  test("is refused with a bad state", () => {
    expect(() => new StaticWorkbench([]).loadState({ tools: 1 })).toThrow(/state/);
  });
});
