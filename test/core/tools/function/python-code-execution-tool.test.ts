import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  PythonCodeExecutionTool,
  coreComponents,
  dumpComponent,
} from "troupe";
import { failsUntilGood, TestCodeExecutor } from "../../support/code-executor.ts";
import { runContext } from "#core/turn/run-context.ts";

const run = {
  signal: new AbortController().signal,
  idempotencyKey: "turn/tool:0",
  session: "of the team",
  callId: "1",
  env: {},
  run: runContext({ id: "run" }),
};

describe("PythonCodeExecutionTool", () => {
  test("runs the code of a call, and the model reads its output, good or bad", async () => {
    const executor = new TestCodeExecutor(failsUntilGood);
    const tool = new PythonCodeExecutionTool(executor);
    const failed = await tool.run({ code: "bad" }, run);
    expect(failed).toEqual({ success: false, output: "broken" });
    expect(tool.valueAsText(failed)).toBe("broken");
    expect(tool.valueAsText(await tool.run({ code: "good" }, run))).toBe("fine");
    expect(executor.ran[1]).toEqual([{ language: "python", code: "good" }]);
    expect(executor.keys[1]).toBe("turn/tool:0");
    expect(tool.policy).toBe("retry");
  });

  test("shows the model AutoGen's schema and refuses arguments that do not fit it", async () => {
    const tool = new PythonCodeExecutionTool(new TestCodeExecutor());
    expect(tool.schema).toMatchObject({
      name: "CodeExecutor",
      description: "Execute Python code blocks.",
      parameters: {
        type: "object",
        properties: { code: { title: "Code", type: "string" } },
        required: ["code"],
        additionalProperties: false,
      },
    });
    await expect(tool.run({}, run)).rejects.toThrow(/code/);
  });

  test("is loaded and dumped with its executor", () => {
    const json = dumpComponent(new PythonCodeExecutionTool(new TestCodeExecutor()));
    const registry = new ComponentRegistry().register(
      ...coreComponents(new Catalog()),
      TestCodeExecutor.component,
    );
    expect(json.provider).toBe("autogen_ext.tools.code_execution.PythonCodeExecutionTool");
    expect(dumpComponent(registry.load(json, "tool"))).toEqual(json);
    expect(registry.validate({ ...json, config: { executor: json } })).toEqual([
      {
        path: "component.config.executor.provider",
        message: expect.stringContaining("code_executor"),
      },
    ]);
  });
});
