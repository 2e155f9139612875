// The names of the shipped templates' tools are free for the tools of a deployment and of component JSON.
import { describe, expect, test } from "vitest";
import { Catalog, ComponentRegistry, coreComponents, FunctionTool, type Tool } from "troupe";
import { shippedTools } from "#service/templates/tools/shipped-tools.ts";

const shipped = shippedTools();

function registry(catalog = new Catalog()): ComponentRegistry {
  return new ComponentRegistry().register(...coreComponents(catalog, undefined, shipped));
}

function calculator(config: object = {}): object {
  return { provider: "autogen_core.tools.FunctionTool", config: { name: "calculator", ...config } };
}

describe("a FunctionTool named like a tool of the shipped templates", () => {
  test("is that tool when it has no source code and nothing else is registered", () => {
    const tool = registry().load<Tool>(calculator());
    expect(tool.schema.parameters).toMatchObject({ required: ["expression"] });
  });

  test("is never that tool when it has Python source code", () => {
    const source_code = "def calculator(a: float, b: float) -> float:\n    return a + b\n";
    expect(registry().validate(calculator({ source_code }))).toEqual([
      { path: "component.config.name", message: expect.stringContaining("SANDBOX_URL") },
    ]);
    expect(registry().notes(calculator({ source_code }))).toEqual([]);
  });

  test("is the tool that the deployment registered", () => {
    const catalog = new Catalog();
    const parameters = { type: "object", properties: { digits: { type: "string" } } };
    catalog.registerTool(
      new FunctionTool({ name: "calculator", description: "", parameters, execute: () => 42 }),
    );
    expect(registry(catalog).load<Tool>(calculator()).schema.parameters).toMatchObject(parameters);
  });
});
