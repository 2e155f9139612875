import { ValueError } from "../errors.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { AnyComponentDefinition } from "./component.ts";
import type { Template } from "./template.ts";

/** Where component JSON finds the functions it names. */
export interface ToolCatalog {
  tool(name: string): AnyTool | undefined;
}

/**
 * What a deployment adds in code to what component JSON can say: functions for its FunctionTools, components of
 * its own, and teams to start by name.
 */
export class Catalog implements ToolCatalog {
  readonly #tools = new Map<string, AnyTool>();
  readonly #components = new Map<string, AnyComponentDefinition>();
  readonly #teams = new Map<string, Template>();

  /**
   * Makes a tool available to every FunctionTool of its name in component JSON.
   *
   * @throws ValueError when another tool has that name
   */
  registerTool(tool: AnyTool): void {
    add(this.#tools, "tool", tool.name, tool);
  }

  /** @throws ValueError when another component has that provider name */
  registerComponent(definition: AnyComponentDefinition): void {
    add(this.#components, "component", definition.provider, definition);
  }

  /** @throws ValueError when another team has that name */
  defineTeam(team: Template): void {
    add(this.#teams, "team", team.name, team);
  }

  tool(name: string): AnyTool | undefined {
    return this.#tools.get(name);
  }

  /** The names of all tools, in the order of registration. */
  toolNames(): string[] {
    return [...this.#tools.keys()];
  }

  components(): AnyComponentDefinition[] {
    return [...this.#components.values()];
  }

  team(name: string): Template | undefined {
    return this.#teams.get(name);
  }

  teams(): Template[] {
    return [...this.#teams.values()];
  }
}

/** A module may be evaluated twice with the same object (hot reload), which is no conflict. */
function add<T>(entries: Map<string, T>, kind: string, name: string, entry: T): void {
  const existing = entries.get(name);
  if (existing !== undefined && existing !== entry) {
    throw new ValueError(`a ${kind} named "${name}" is registered already`);
  }
  entries.set(name, entry);
}

/** The catalog of the default app; the functions below add to it. */
export const defaultCatalog = new Catalog();

/** {@link Catalog.registerTool} of the default catalog. */
export function registerTool(tool: AnyTool): void {
  defaultCatalog.registerTool(tool);
}

/** {@link Catalog.registerComponent} of the default catalog. */
export function registerComponent(definition: AnyComponentDefinition): void {
  defaultCatalog.registerComponent(definition);
}

/** {@link Catalog.defineTeam} of the default catalog. */
export function defineTeam(team: Template): void {
  defaultCatalog.defineTeam(team);
}
