import { ValueError } from "../errors.ts";
import type { NamedSkill, SkillCatalog } from "../skills/skill-source.ts";
import type { AnyTool } from "./tool.ts";
import type { AnyComponentDefinition } from "../component/component.ts";
import { type FunctionCatalog, type NamedFunction, rememberName } from "../component/functions.ts";
import type { Template } from "../component/template.ts";

/** Finds the tools that component JSON names. */
export interface ToolCatalog {
  tool(name: string): AnyTool | undefined;
}

/**
 * The parts that a deployment registers in code: tools and functions that component JSON names, component classes, and
 * teams that can be created by name.
 */
export class Catalog implements ToolCatalog, FunctionCatalog, SkillCatalog {
  readonly #tools = new Map<string, AnyTool>();
  readonly #functions = new Map<string, NamedFunction>();
  readonly #components = new Map<string, AnyComponentDefinition>();
  readonly #skills = new Map<string, NamedSkill>();
  readonly #teams = new Map<string, Template>();

  /**
   * Makes a tool available to every FunctionTool of its name in component JSON.
   *
   * @throws ValueError when another tool has that name
   */
  registerTool(tool: AnyTool): void {
    add(this.#tools, "tool", tool.name, tool);
  }

  /**
   * Makes a function available to component JSON by name: a selector, a condition, an approval. The key that names it
   * defines its parameters and result.
   *
   * @throws ValueError when another function has that name
   */
  registerFunction(name: string, fn: NamedFunction): void {
    add(this.#functions, "function", name, fn);
    rememberName(fn, name);
  }

  /**
   * Makes a skill available to the agents of all tenants that name it. It takes the place of a tenant's skill of that name.
   *
   * @throws ValueError when another skill has that name
   */
  registerSkill(skill: NamedSkill): void {
    add(this.#skills, "skill", skill.name, skill);
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

  function(name: string): NamedFunction | undefined {
    return this.#functions.get(name);
  }

  skill(name: string): NamedSkill | undefined {
    return this.#skills.get(name);
  }

  /** The names of all functions, in the order of registration. */
  functionNames(): string[] {
    return [...this.#functions.keys()];
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

/** A module may be evaluated twice with the same object (hot reload), which is not a conflict. */
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

/** {@link Catalog.registerFunction} of the default catalog. */
export function registerFunction(name: string, fn: NamedFunction): void {
  defaultCatalog.registerFunction(name, fn);
}

/** {@link Catalog.registerSkill} of the default catalog. */
export function registerSkill(skill: NamedSkill): void {
  defaultCatalog.registerSkill(skill);
}

/** {@link Catalog.registerComponent} of the default catalog. */
export function registerComponent(definition: AnyComponentDefinition): void {
  defaultCatalog.registerComponent(definition);
}

/** {@link Catalog.defineTeam} of the default catalog. */
export function defineTeam(team: Template): void {
  defaultCatalog.defineTeam(team);
}
