import * as z from "zod";
import { describe, expect, test } from "vitest";
import { Catalog, FunctionTool, ValueError } from "troupe";

const tool = (name: string): FunctionTool =>
  new FunctionTool({ name, description: "", parameters: z.object({}), execute: () => "" });

describe("a catalog", () => {
  test("finds a registered entry by name", () => {
    const catalog = new Catalog();
    const add = tool("add");
    const team = { name: "demo", description: "", component: { provider: "x", config: {} } };
    catalog.registerTool(add);
    catalog.defineTeam(team);
    const isLong = (text: string): boolean => text.length > 9;
    catalog.registerFunction("is_long", isLong);
    expect(catalog.function("is_long")).toBe(isLong);
    expect(catalog.function("toString")).toBeUndefined();
    expect(catalog.functionNames()).toEqual(["is_long"]);
    expect(catalog.tool("add")).toBe(add);
    expect(catalog.tool("toString")).toBeUndefined();
    expect(catalog.toolNames()).toEqual(["add"]);
    expect(catalog.team("demo")).toBe(team);
    expect(catalog.teams()).toEqual([team]);
    expect(catalog.components()).toEqual([]);
  });

  test("keeps names unique, but accepts the same entry twice", () => {
    const catalog = new Catalog();
    const add = tool("add");
    catalog.registerTool(add);
    catalog.registerTool(add);
    expect(() => catalog.registerTool(tool("add"))).toThrow(ValueError);
    const yes = (): boolean => true;
    catalog.registerFunction("yes", yes);
    catalog.registerFunction("yes", yes);
    expect(() => catalog.registerFunction("yes", () => true)).toThrow(ValueError);
  });
});
