import { expect, test } from "vitest";
import { mcpSettings, offeredTemplates } from "#api/protocols/mcp/tools/offered-templates.ts";

const templates = ["writer", "critic"].map((name) => ({
  name,
  description: name,
  component: { provider: name, config: {} },
}));

function offered(MCP_TEMPLATES?: string): string[] {
  const settings = mcpSettings(MCP_TEMPLATES === undefined ? {} : { MCP_TEMPLATES });
  return offeredTemplates(settings, templates).map(({ name }) => name);
}

test("all templates are offered by default, and those that the setting names with it", () => {
  expect(offered()).toEqual(["writer", "critic"]);
  expect(offered(" ")).toEqual(["writer", "critic"]);
  expect(offered("critic, writer")).toEqual(["writer", "critic"]);
  expect(offered("critic")).toEqual(["critic"]);
  expect(offered("none")).toEqual([]);
});

test("a setting that is not a list of templates is refused with what is allowed", () => {
  expect(() => offered("writer;critic")).toThrow(
    "it must be names of templates separated by commas",
  );
  expect(() => offered("poet")).toThrow("it must name templates of this server: writer, critic");
});
