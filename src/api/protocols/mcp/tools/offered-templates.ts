import type { Template } from "../../../../core/component/template.ts";
import { ValueError } from "../../../../core/errors.ts";

export interface McpSettings {
  /** The names of the templates that clients of MCP may use (`MCP_TEMPLATES`); undefined for all. */
  templates: ReadonlySet<string> | undefined;
}

/** @throws ValueError naming the setting that cannot be used */
export function mcpSettings({ MCP_TEMPLATES = "" }: { MCP_TEMPLATES?: string }): McpSettings {
  if (MCP_TEMPLATES.trim() === "") return { templates: undefined };
  if (MCP_TEMPLATES.trim() === "none") return { templates: new Set() };
  const names = MCP_TEMPLATES.split(",").map((name) => name.trim());
  if (names.every((name) => /^[A-Za-z0-9_-]{1,200}$/.test(name)))
    return { templates: new Set(names) };
  throw new ValueError(
    `MCP_TEMPLATES is ${JSON.stringify(MCP_TEMPLATES)}: it must be names of templates separated by commas, such as writer_critic,librarian, or none`,
  );
}

/**
 * The templates that are offered.
 *
 * @throws ValueError for a name in the setting that no template has
 */
export function offeredTemplates(
  { templates: names }: McpSettings,
  templates: readonly Template[],
): readonly Template[] {
  if (names === undefined) return templates;
  const known = new Set(templates.map(({ name }) => name));
  const unknown = [...names].find((name) => !known.has(name));
  if (unknown === undefined) return templates.filter(({ name }) => names.has(name));
  throw new ValueError(
    `MCP_TEMPLATES names ${JSON.stringify(unknown)}: it must name templates of this server: ${[...known].join(", ")}`,
  );
}
