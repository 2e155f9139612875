import * as z from "zod";
import { ComponentError, type ComponentErrorKind, type Issue, ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import { type JsonObject, isJsonObject, type Json } from "../json.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import type { ModelInfo } from "../models/model-info.ts";
import type { ScriptRunner } from "../skills/script-runner.ts";
import type { NamedSkill, SkillCatalog } from "../skills/skill-source.ts";
import type { AnyTool } from "../tools/tool.ts";
import { askingFirst } from "../tools/with-approval.ts";
import { type ComponentModel, componentModelSchema } from "../component/component-model.ts";
import type {
  AnyComponentDefinition,
  Component,
  ComponentLoader,
  Note,
} from "../component/component.ts";
import {
  type CheckedComponent,
  findIssues,
  type NodeLoader,
  type ComponentRoles,
} from "../component/checks/find-issues.ts";
import type { FunctionCatalog, NamedFunction } from "../component/functions.ts";
import { lenientParse } from "../component/checks/lenient-parse.ts";
import {
  type ComponentLimits,
  DEFAULT_LIMITS,
  exceededLimit,
  requireWithinLimits,
} from "../component/checks/limits.ts";
import { nearMatches } from "../options/near-matches.ts";
import { notesOn, refusalsOf } from "../component/checks/notes.ts";
import { buildStored } from "../component/refused-where-new.ts";
import { prepareComponents } from "../component/checks/prepare.ts";
import { whyUnsupported } from "../component/checks/unsupported-components.ts";
import { configJsonSchema, unknownKeys } from "../component/checks/unknown-keys.ts";
import {
  className,
  isOtherAutoGenClass,
  publicProvider,
  WELL_KNOWN_PROVIDERS,
} from "../component/providers.ts";
import { type HumanApproval, humanApproval, humanApprovalSchema } from "../turn/human-approval.ts";
import {
  aBoolean,
  aNumber,
  checkOptions,
  objectWith,
  type OptionsSchema,
} from "../options/options.ts";

const HOW_TO_REGISTER =
  "; a class of your own must be registered: registerComponent(MyClass.component) in a Worker, registry.register(MyClass.component) for a ComponentRegistry";

/** The default start of issue paths. */
const ROOT = "component";

/** The result of {@link ComponentRegistry.inspect}: all mistakes or, if there are none, the notes. */
export interface Inspected {
  issues: Issue[];
  notes: Note[];
}

/** A known provider as the API lists it; `config` is the JSON Schema of its config. */
export interface KnownComponent {
  provider: string;
  component_type: string;
  component_version: number;
  config: JsonObject;
}

/** Dependencies of a registry. */
export interface RegistryOptions extends Partial<ComponentLimits> {
  /** The functions that component JSON may name. */
  functions?: FunctionCatalog | undefined;
  /** True if there are memories of users and tenants, and collections. Default true; without them notes say so. */
  hasMemories?: boolean | undefined;
  /** The skills that component JSON may name besides those of a tenant. */
  skills?: SkillCatalog | undefined;
  /** Runs scripts of skills. */
  scripts?: ScriptRunner | undefined;
}

const optionsSchema: OptionsSchema<RegistryOptions> = z.object({
  depth: aNumber.optional(),
  components: aNumber.optional(),
  functions: objectWith("a Catalog", "function", "functionNames").optional(),
  hasMemories: aBoolean.optional(),
  skills: objectWith("a Catalog", "skill").optional(),
  scripts: objectWith("a runner of scripts", "run").optional(),
});

/**
 * The components that can be loaded from JSON, by provider name.
 *
 * @example
 * const registry = new ComponentRegistry({ functions: catalog }).register(...coreComponents(catalog));
 * const team = registry.load<Team>(json, "team");
 */
export class ComponentRegistry implements ComponentLoader, NodeLoader {
  readonly #definitions = new Map<string, AnyComponentDefinition>();
  /** Components by bare class name; the first one registered keeps it. */
  readonly #aliases = new Map<string, AnyComponentDefinition>();
  readonly #limits: ComponentLimits;
  readonly #functions: FunctionCatalog | undefined;
  readonly hasMemories: boolean;
  readonly scripts: ScriptRunner | undefined;
  readonly #skills: SkillCatalog | undefined;

  constructor(options: RegistryOptions = {}) {
    const checkedOptions = checkOptions(optionsSchema, options, "ComponentRegistry");
    const { functions, hasMemories = true, skills, scripts, ...limits } = checkedOptions;
    this.hasMemories = hasMemories;
    this.#skills = skills;
    this.scripts = scripts;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#functions = functions;
  }

  /** @throws ValueError when another component has the same provider name */
  register(...definitions: readonly AnyComponentDefinition[]): this {
    for (const definition of definitions) {
      const { provider } = definition;
      const existing = this.#definitions.get(provider);
      if (existing !== undefined && existing !== definition) {
        throw new ValueError(`the provider "${provider}" is registered already`);
      }
      this.#definitions.set(provider, definition);
      const alias = className(provider);
      if (!this.#aliases.has(alias)) this.#aliases.set(alias, definition);
    }
    return this;
  }

  /**
   * Loads component JSON; without `roles` any component is accepted.
   *
   * @throws ComponentError for the first thing that is wrong, its place in `issues`; {@link validate} finds all
   */
  load<T extends Component>(model: unknown, roles?: ComponentRoles, path = ROOT): T {
    requireWithinLimits(model, path, this.#limits);
    return this.#load(model, roles, path) as T;
  }

  /**
   * Prepares component JSON for loading, for example by inspecting its Python functions. JSON that needs no preparation is
   * returned unchanged, even if it cannot be loaded.
   *
   * @throws TroupeError `sandbox_unavailable` when the sandbox cannot be reached
   */
  async prepare<T>(model: T, path = ROOT): Promise<T> {
    if (exceededLimit(model, path, this.#limits) !== undefined) return model;
    return (await prepareComponents(this, model, path)) as T;
  }

  /** Everything that is wrong with component JSON that comes in new, in document order. */
  validate(model: unknown, roles?: ComponentRoles, path = ROOT): Issue[] {
    return this.inspect(model, roles, path).issues;
  }

  /** Remarks on valid component JSON, for example keys without effect, and what is refused where it comes in new. */
  notes(model: unknown, path = ROOT): Note[] {
    return [...notesOn(this, model, path)];
  }

  /** Both {@link validate} and {@link notes} at a lower cost: each config is checked once. */
  inspect(model: unknown, roles?: ComponentRoles, path = ROOT): Inspected {
    const known = new Map<unknown, CheckedComponent>();
    const places: [path: string, checked: CheckedComponent][] = [];
    const load: ComponentLoader["load"] = (inner, wanted, place) => this.load(inner, wanted, place);
    const { hasMemories } = this;
    const refusals = (): Issue[] =>
      places.flatMap(([place, checked]) => refusalsOf(checked, { load, hasMemories }, place));
    try {
      requireWithinLimits(model, path, this.#limits);
      this.#load(model, roles, path, (inner, checked, place) => {
        known.set(inner, checked);
        places.push([place, checked]);
      });
    } catch (error) {
      if (!(error instanceof ComponentError)) throw error;
      const issues = findIssues(this, model, roles, path, error);
      return { issues: [...issues, ...refusals()], notes: [] };
    }
    const issues = refusals();
    if (issues.length > 0) return { issues, notes: [] };
    const check: NodeLoader["check"] = (inner, wanted, place) =>
      known.get(inner) ?? this.check(inner, wanted, place);
    return { issues, notes: [...notesOn({ check, load, hasMemories }, model, path)] };
  }

  /**
   * The paths of all components that are loaded for `model`. An object that only looks like a component is not loaded.
   *
   * @throws ComponentError
   */
  loadedPaths(model: unknown, roles?: ComponentRoles, path = ROOT): string[] {
    const paths: string[] = [];
    requireWithinLimits(model, path, this.#limits);
    this.#load(model, roles, path, (_inner, _checked, place) => paths.push(place));
    return paths;
  }

  /**
   * The capabilities of the models of a component. Models that agents have in code are not included.
   *
   * @throws ComponentError
   */
  modelInfos(model: unknown, roles?: ComponentRoles, path = ROOT): ModelInfo[] {
    const models: unknown[] = [];
    requireWithinLimits(model, path, this.#limits);
    this.#load(model, roles, path, (inner, { definition }) => {
      if (definition.role === "model") models.push(inner);
    });
    return models.map((one) => this.load<ChatCompletionClient>(one, "model").modelInfo);
  }

  /** All registered components, ordered by provider. */
  definitions(): KnownComponent[] {
    return [...this.#definitions.values()]
      .map(({ provider, componentType, role, version, configSchema }) => {
        const config = configJsonSchema(configSchema);
        return {
          provider,
          component_type: componentType,
          component_version: version,
          config: role === "tool" ? withToolKeys(config) : config,
        };
      })
      .toSorted((a, b) => (a.provider < b.provider ? -1 : 1));
  }

  /**
   * The definition that loads `model` and its checked config.
   *
   * @throws ComponentError
   */
  check(model: unknown, roles: ComponentRoles | undefined, path: string): CheckedComponent {
    const parsed = lenientParse(componentModelSchema, model);
    if (!parsed.success) throw invalid("validation", issuesOf(parsed.error, path));
    const definition = this.#find(parsed.data.provider, path);
    if (roles !== undefined && ![roles].flat().includes(definition.role)) {
      throw invalid("wrong_type", [
        {
          path: `${path}.provider`,
          message: `needs a component of type ${[roles].flat().join(" or ")}, ${definition.provider} is of type ${definition.role}`,
        },
      ]);
    }
    const contentPath = `${path}.config`;
    const { config: own, approval } =
      definition.role === "tool"
        ? toolConfig(parsed.data.config, contentPath)
        : { config: parsed.data.config, approval: null };
    const upToDate = upgraded({ ...parsed.data, config: own }, definition, path);
    const config = lenientParse(definition.configSchema, upToDate);
    if (!config.success) {
      const issues = issuesOf(config.error, contentPath);
      throw invalid("validation", [
        ...issues,
        ...misspelled(issues, upToDate, definition, contentPath),
      ]);
    }
    if (ignoresApproval(own, config.data)) {
      const message = `has no effect on ${definition.provider}: tools ask for approval, and code executor agents`;
      throw invalid("value", [{ path: `${contentPath}.approval`, message }]);
    }
    return { definition, config: config.data, given: upToDate, approval };
  }

  /**
   * Makes a component from a checked config. `loader` loads nested components.
   *
   * @throws ComponentError
   */
  build(
    { definition, config, approval }: CheckedComponent,
    path: string,
    loader: ComponentLoader,
  ): Component {
    try {
      const component = buildStored(() => definition.fromConfig(config, loader));
      return approval === null ? component : askingFirst(component as AnyTool, approval);
    } catch (error) {
      throw asComponentError(error, `${path}.config`);
    }
  }

  /**
   * The function that component JSON calls `name`.
   *
   * @throws ComponentError of kind `value` when nothing was registered under that name
   */
  function<F extends NamedFunction>(name: string, path: string): F {
    const found = this.#functions?.function(name);
    if (found !== undefined) return found as F;
    const near = nearMatches(name, this.#functions?.functionNames() ?? []);
    const message = `no function named "${name}" is registered${didYouMean(near)}`;
    throw invalid("value", [{ path, message }], near);
  }

  skill(name: string): NamedSkill | undefined {
    return this.#skills?.skill(name);
  }

  /** @param onChecked called for each component, before it is made */
  #load(
    model: unknown,
    roles: ComponentRoles | undefined,
    path: string,
    onChecked?: (model: unknown, checked: CheckedComponent, path: string) => void,
  ): Component {
    const checked = this.check(model, roles, path);
    onChecked?.(model, checked, path);
    return this.build(checked, path, {
      load: <T extends Component>(inner: ComponentModel, wanted: ComponentRoles, place: string) =>
        this.#load(inner, wanted, `${path}.config.${place}`, onChecked) as T,
      function: (name, place) => this.function(name, `${path}.config.${place}`),
      skill: (name) => this.skill(name),
      scripts: this.scripts,
    });
  }

  #find(provider: string, path: string): AnyComponentDefinition {
    const name = publicProvider(WELL_KNOWN_PROVIDERS.get(provider) ?? provider);
    const definition = this.#definitions.get(name) ?? this.#aliases.get(name);
    if (definition !== undefined) return definition;
    if (isOtherAutoGenClass(name)) {
      throw invalid("wrong_type", [
        { path: `${path}.provider`, message: `"${provider}" is not a component` },
      ]);
    }
    const why = whyUnsupported(name);
    if (why !== undefined) {
      throw invalid("unknown_provider", [
        { path: `${path}.provider`, message: `"${provider}" is not available here: ${why}` },
      ]);
    }
    const near = nearMatches(name, this.#definitions.keys());
    const hint = near.length > 0 ? didYouMean(near) : HOW_TO_REGISTER;
    throw invalid(
      "unknown_provider",
      [{ path: `${path}.provider`, message: `unknown provider "${provider}"${hint}` }],
      near,
    );
  }
}

function toolConfig(config: JsonObject, path: string): ToolConfig {
  try {
    return splitToolConfig(config);
  } catch (error) {
    if (error instanceof z.ZodError) throw invalid("validation", issuesOf(error, path));
    throw asComponentError(error, path);
  }
}

/** The keys of a config that may be misspellings of missing or invalid ones: `modelClient` for `model_client`. */
function misspelled(
  issues: readonly Issue[],
  input: JsonObject,
  { configSchema, provider }: AnyComponentDefinition,
  place: string,
): Issue[] {
  const { troupe: _, ...config } = input;
  const schema = configJsonSchema(configSchema);
  return unknownKeys(config, schema, className(provider), place).filter(({ message }) =>
    issues.some(({ path }) => message.endsWith(`did you mean "${path.slice(place.length + 1)}"?`)),
  );
}

function didYouMean(near: readonly string[]): string {
  return near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
}

/** Zero counts as not given, as in AutoGen. */
function upgraded(
  model: ComponentModel,
  definition: AnyComponentDefinition,
  path: string,
): JsonObject {
  const { config } = model;
  const version = model.component_version || definition.version;
  if (version >= definition.version) return config;
  try {
    const current = definition.upgrade?.(config, version);
    if (current !== undefined) return current;
  } catch (error) {
    throw asComponentError(error, `${path}.config`);
  }
  throw invalid("old_version", [
    {
      path: `${path}.component_version`,
      message: `this config of ${definition.provider} cannot be loaded as version ${version}; the current version is ${definition.version}`,
    },
  ]);
}

function invalid(kind: ComponentErrorKind, issues: Issue[], near: string[] = []): ComponentError {
  return new ComponentError(kind, listIssues(issues), {
    issues,
    ...(near.length > 0 && { data: { near_matches: near } }),
  });
}

/** A constructor's error may name the field, but not where in the JSON its config is. */
function asComponentError(error: unknown, path: string): ComponentError {
  if (error instanceof ComponentError) return error;
  if (!(error instanceof Error)) throw error;
  const inner = "issues" in error && Array.isArray(error.issues) ? (error.issues as Issue[]) : [];
  const issues =
    inner.length > 0
      ? inner.map((issue) => ({ ...issue, path: issue.path ? `${path}.${issue.path}` : path }))
      : [{ path, message: error.message }];
  return new ComponentError("value", listIssues(issues), { issues, cause: error });
}

/** A tool's config, split into the keys of its class and the approval keys common to all tools. */
interface ToolConfig {
  config: JsonObject;
  approval: HumanApproval | null;
}

/** @throws ZodError, ValueError */
function splitToolConfig(config: JsonObject): ToolConfig {
  const { approval, approval_timeout_seconds, ...rest } = config;
  const keys = lenientParse(humanApprovalSchema, { approval, approval_timeout_seconds });
  if (!keys.success) throw keys.error;
  const { data } = keys;
  return { config: rest, approval: humanApproval(data.approval, data.approval_timeout_seconds) };
}

/** True if a config has an approval key that its class ignores: the call would be made without approval. */
function ignoresApproval(raw: JsonObject, read: unknown): boolean {
  return raw["approval"] != null && !(isJsonObject(read) && read["approval"] != null);
}

/** The JSON Schema of a tool's config with the approval keys. */
function withToolKeys(schema: JsonObject): JsonObject {
  const { properties, allOf } = schema;
  const { $schema: _, ...keys } = z.toJSONSchema(humanApprovalSchema, {
    io: "input",
  }) as JsonObject;
  if (Array.isArray(allOf)) return { ...schema, allOf: [...allOf, keys] };
  return { ...schema, properties: { ...asObject(properties), ...asObject(keys["properties"]) } };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
