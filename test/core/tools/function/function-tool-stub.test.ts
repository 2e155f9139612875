// What tools written in TypeScript leave in component JSON, for AutoGen and for a program that has them registered.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  Catalog,
  type ComponentModel,
  dumpComponent,
  FunctionTool,
  type JsonObject,
  type Tool,
} from "troupe";
import { inspectFunctions } from "#core/python/inspect-functions.ts";
import { type Import, pythonSource } from "#core/python/python-source.ts";
import { LocalPython } from "../../../support/local-python.ts";
import { registryWith, toolRun } from "../../python/support.ts";

function toolOf(parameters: z.ZodObject | JsonObject, name = "book"): FunctionTool {
  return new FunctionTool({ name, description: "Books.", parameters, execute: () => "booked" });
}

/** The stub of a tool, as Python reads it. */
async function parametersInPython(tool: Tool): Promise<unknown> {
  const { source_code, global_imports } = tool.toConfig() as {
    source_code: string;
    global_imports: Import[];
  };
  const source = pythonSource("", source_code, global_imports);
  const [finding] = await inspectFunctions(new LocalPython(), [source]);
  return finding;
}

const BOOKING = z.object({
  city: z.string().describe('Where to,\n"exactly" 😀.'),
  nights: z.number().int(),
  rate: z.number().optional(),
  kind: z.enum(["single", "double"]).default("single"),
  guests: z.array(z.string()).default(["Ann", "Bo"]),
  extras: z.record(z.string(), z.boolean()).nullable().describe("By name."),
  code: z.union([z.string(), z.number().int()]),
  note: z.unknown(),
});

describe("the stub of a tool", () => {
  test("has the form that AutoGen loads: one function with annotated parameters and the tool's name", () => {
    const config = toolOf(BOOKING).toConfig();
    expect(config).toMatchObject({
      name: "book",
      description: "Books.",
      has_cancellation_support: false,
      global_imports: [{ module: "typing", imports: ["Annotated", "Any", "Literal"] }],
    });
    const source = config["source_code"] as string;
    // How AutoGen finds the function.
    expect(source.split("def ")[1]?.split("(")[0]).toBe("book");
    expect(source).toContain(
      'nights: int, rate: float | None = None, kind: Literal["single", "double"] = "single"',
    );
  });

  test("has the tool's parameters", async () => {
    expect(await parametersInPython(toolOf(BOOKING))).toMatchObject({
      parameters: {
        properties: {
          city: { type: "string", description: 'Where to,\n"exactly" 😀.' },
          nights: { type: "integer" },
          rate: { anyOf: [{ type: "number" }, { type: "null" }], default: null },
          kind: { enum: ["single", "double"], default: "single" },
          guests: { type: "array", items: { type: "string" }, default: ["Ann", "Bo"] },
          extras: { description: "By name." },
          code: { anyOf: [{ type: "string" }, { type: "integer" }] },
        },
        required: ["city", "nights", "extras", "code", "note"],
      },
    });
  });

  test.each<[name: string, properties: JsonObject, signature: string]>([
    ["get-weather", {}, "def get_weather() -> str"],
    ["class", { from: {}, "a-b": {}, _c: {}, model_dump: {} }, "def tool_class() -> str"],
    [
      "1st",
      { a: { const: 1 }, b: { enum: [1.5] } },
      "def tool_1st(*, a: Literal[1] | None = None, b: Any = None) -> str",
    ],
    ["f", { a: { type: ["string", "null"] } }, "def f(*, a: str | None = None) -> str"],
    [
      "f",
      { a: { type: "array" }, b: { type: "object" } },
      "def f(*, a: list[Any] | None = None, b: dict[str, Any] | None = None) -> str",
    ],
    [
      "f",
      { a: { not: { type: "string" } }, b: { default: { k: [true, null] } } },
      'def f(*, a: Any = None, b: Any = {"k": [True, None]}) -> str',
    ],
  ])("is valid Python for %s with %j", async (name, properties, signature) => {
    const tool = toolOf({ type: "object", properties }, name);
    expect(tool.toConfig()["source_code"]).toContain(`\n${signature}:\n`);
    expect(await parametersInPython(tool)).toHaveProperty("parameters");
  });
});

describe("a stub that is loaded", () => {
  const dumped: ComponentModel = dumpComponent(toolOf(BOOKING));

  test("gives the registered tool of that name, and is dumped as it was", async () => {
    const catalog = new Catalog();
    catalog.registerTool(toolOf(BOOKING));
    const python = new LocalPython();
    const registry = registryWith(python, catalog);
    const tool = registry.load<Tool>(await registry.prepare(dumped));
    const args = { city: "Rome", nights: 1, extras: null, code: 7, note: 1 };
    expect(await tool.run(args, toolRun())).toBe("booked");
    expect(dumpComponent(tool)).toEqual(dumped);
    expect(python.ran).toEqual([]);
  });

  test("is refused if no tool of that name is registered, with or without a sandbox", async () => {
    for (const python of [undefined, new LocalPython()]) {
      const registry = registryWith(python);
      expect(registry.validate(await registry.prepare(dumped))).toEqual([
        {
          path: "component.config.name",
          message: expect.stringMatching(
            /no tool named "book" is registered.*register the tool in code/,
          ),
        },
      ]);
    }
  });

  test("runs as Python once its function was written", async () => {
    const source_code = (dumped.config["source_code"] as string).replace(
      /raise .*/,
      'return "by Python"',
    );
    const registry = registryWith(new LocalPython());
    const model = { ...dumped, config: { ...dumped.config, source_code } };
    const tool = registry.load<Tool>(await registry.prepare(model));
    const args = { city: "Rome", nights: 1, extras: null, code: 7, note: 1 };
    expect(await tool.run(args, toolRun())).toBe("by Python");
  });
});
