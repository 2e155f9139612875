import { Catalog, ComponentRegistry, coreComponents } from "troupe";
import type { ComponentModel, JsonObject, PythonHost, Tool, ToolRun } from "troupe";
import { type Execute, TestCodeExecutor } from "../support/code-executor.ts";
import { runContext } from "#core/turn/run-context.ts";

/** A FunctionTool as AutoGen dumps it. */
export function functionTool(source_code: string, config: JsonObject = {}): ComponentModel {
  return {
    provider: "autogen_core.tools.FunctionTool",
    component_type: "tool",
    version: 1,
    component_version: 1,
    config: {
      source_code,
      name: "f",
      description: "Does it.",
      global_imports: [],
      has_cancellation_support: false,
      ...config,
    },
  };
}

export function workbench(...tools: ComponentModel[]): ComponentModel {
  return {
    provider: "autogen_core.tools.StaticWorkbench",
    component_type: "workbench",
    config: { tools },
  };
}

export function registryWith(python?: PythonHost, catalog = new Catalog()): ComponentRegistry {
  return new ComponentRegistry({ functions: catalog }).register(...coreComponents(catalog, python));
}

/** Loads what component JSON stands for, after preparing it. */
export async function loaded(python: PythonHost, model: ComponentModel): Promise<Tool> {
  const registry = registryWith(python);
  return registry.load<Tool>(await registry.prepare(model));
}

export function toolRun(idempotencyKey = "key"): ToolRun {
  return {
    signal: new AbortController().signal,
    idempotencyKey,
    callId: "1",
    env: {},
    run: runContext({ id: "run" }),
  };
}

/** A host of Python whose executors do as a test says. */
export function hostWith(execute: Execute): PythonHost {
  const executor = () => new TestCodeExecutor(execute);
  return { executor, scratch: executor };
}
