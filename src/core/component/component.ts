import type * as z from "zod";
import type { Issue } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { ScriptRunner } from "../skills/script-runner.ts";
import type { NamedSkill } from "../skills/skill-source.ts";
import type { ComponentModel } from "./component-model.ts";
import type { NamedFunction } from "./functions.ts";
import type { Preparation } from "./preparation.ts";

/**
 * The role of a component. A field that takes a component names the role it accepts; `component_type` in
 * the JSON is what AutoGen writes there and differs for some classes (the replay client has its own).
 */
export type ComponentRole =
  | "agent"
  | "team"
  | "model"
  | "chat_completion_context"
  | "memory"
  | "embedding"
  | "tool"
  | "workbench"
  | "termination"
  | "structured_message"
  | "code_executor"
  | "cache_store"
  | "mcp_session_host"
  | "mcp_sampler"
  | "mcp_elicitor"
  | "mcp_roots_provider"
  | "scorer";

/** Loads components nested in a config, and finds the functions that a config names. */
export interface ComponentLoader {
  /**
   * Loads `model`, which must play one of `roles`.
   * @param path its place in the surrounding config: `participants[0]`
   * @throws ComponentError with the full path
   */
  load<T extends Component>(
    model: ComponentModel,
    roles: ComponentRole | readonly ComponentRole[],
    path: string,
  ): T;
  /**
   * The function that was registered under `name` ({@link Catalog.registerFunction}). Its type `F` is not checked.
   * @param path the place of the name in the surrounding config: `selector_func`
   * @throws ComponentError of kind `value` when there is none, with near matches
   */
  function<F extends NamedFunction>(name: string, path: string): F;
  /** The skill that was registered in code under `name` ({@link Catalog.registerSkill}). */
  skill(name: string): NamedSkill | undefined;
  /** Runs scripts of skills; undefined without a sandbox. */
  readonly scripts: ScriptRunner | undefined;
}

/** A remark on valid component JSON and its path: `component.config.image`. */
export interface Note {
  path: string;
  message: string;
}

/** Loads components, and knows the deployment's abilities, for notes. */
export interface NoteLoader extends Pick<ComponentLoader, "load"> {
  /** True if there are memories of users and tenants, and collections. */
  readonly hasMemories: boolean;
}

/** The form of a class in component JSON. Each class declares its own as `static component`. */
export interface ComponentDefinition<Config = never, T extends Component = Component> {
  /** AutoGen's provider name; the bare class name is accepted as an alias. */
  readonly provider: string;
  readonly componentType: string;
  readonly role: ComponentRole;
  /** The config version this class reads and writes (`component_version`). */
  readonly version: number;
  readonly configSchema: z.ZodType<Config>;
  /**
   * Turns a config of an older `version` into one of this version. A config for which it returns undefined is refused,
   * and so is every older config without it.
   */
  upgrade?(config: JsonObject, version: number): JsonObject | undefined;
  /**
   * Collects, before loading, facts that need asynchronous work ({@link ComponentRegistry.prepare}). They are kept in the
   * config under `troupe`, errors included, which `fromConfig` throws. Undefined when nothing is needed.
   */
  prepare?(config: Config, preparation: Preparation): Promise<JsonObject | undefined> | undefined;
  /**
   * Mistakes in a valid config that are refused where a component comes in new. A component with them that is stored already
   * loads and runs as before, and its notes name them. So `fromConfig` must not throw for them. Paths begin at the component.
   */
  refusals?(config: Config, loader: NoteLoader): readonly Issue[];
  /** Runs after `configSchema`. What it throws is reported with the component's path. */
  fromConfig(config: Config, loader: ComponentLoader): T;
  /**
   * Remarks on a valid config, such as keys without effect. Paths begin at the component: `config.image`.
   * @param loader loads a part that a remark depends on
   */
  notes?(config: Config, loader: NoteLoader): readonly Note[];
}

/** A definition whose config type is not known here, as in lists of definitions. */
export type AnyComponentDefinition = Omit<ComponentDefinition<unknown>, "configSchema"> & {
  readonly configSchema: z.ZodType;
};

/** A definition. The type of its config is inferred from the schema and hidden from its users. */
export function componentDefinition<Config>(
  definition: ComponentDefinition<Config>,
): AnyComponentDefinition {
  return definition;
}

/** An object that can be written as component JSON. */
export interface Component {
  /** The definition it is dumped under. */
  readonly definition: Pick<ComponentDefinition, "provider" | "componentType" | "role" | "version">;
  /** Its config; keys whose value is null are left out, as AutoGen does. */
  toConfig(): JsonObject;
}

/** Writes a component as component JSON. */
export function dumpComponent(component: Component): ComponentModel {
  const { provider, componentType, version } = component.definition;
  return {
    provider,
    component_type: componentType,
    version,
    component_version: version,
    config: component.toConfig(),
  };
}

/**
 * Removes the null values of an object at every depth, because AutoGen dumps messages in a config without them.
 * Troupe's own key `troupe` keeps them, because provider data must be returned unchanged.
 */
export function withoutInnerNulls(model: object): JsonObject {
  return withoutNullsIn(JSON.parse(JSON.stringify(model)) as JsonObject);
}

function withoutNullsIn(object: JsonObject): JsonObject {
  const kept = Object.entries(withoutNulls(object));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === "troupe" ? value : skipNulls(value)]),
  );
}

function skipNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(skipNulls);
  return isJsonObject(value) ? withoutNullsIn(value) : value;
}

/** An object without its null and undefined values (AutoGen dumps with `exclude_none`). */
export function withoutNulls(config: { [key: string]: unknown }): JsonObject {
  return Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject;
}
