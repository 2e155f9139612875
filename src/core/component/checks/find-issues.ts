import { ComponentError, type Issue } from "../../errors.ts";
import { pathOf } from "../../issues.ts";
import type { JsonObject } from "../../json.ts";
import type { HumanApproval } from "../../turn/human-approval.ts";
import type {
  AnyComponentDefinition,
  Component,
  ComponentLoader,
  ComponentRole,
} from "../component.ts";
import type { NamedFunction } from "../functions.ts";
import { looksLikeComponent } from "./limits.ts";

/** The roles a place accepts: one, or any of several. */
export type ComponentRoles = ComponentRole | readonly ComponentRole[];

/** A component whose provider, version and config are valid. Its inner components were not checked. */
export interface CheckedComponent {
  definition: AnyComponentDefinition;
  config: unknown;
  /** The config as written, migrated to the current version, without the keys common to all tools. */
  given: JsonObject;
  /** For a tool: whether a human is asked before its calls. */
  approval: HumanApproval | null;
}

/** The two halves of loading one component, and the lookup of functions. All throw {@link ComponentError}. */
export interface NodeLoader extends Pick<ComponentLoader, "skill" | "scripts"> {
  check(model: unknown, roles: ComponentRoles | undefined, path: string): CheckedComponent;
  /** `loader` is asked for the components inside. */
  build(checked: CheckedComponent, path: string, loader: ComponentLoader): Component;
  function<F extends NamedFunction>(name: string, path: string): F;
}

/**
 * Finds all mistakes in component JSON that failed to load with `first`. Loading stops at the first mistake; this
 * checks every nested component, even inside an invalid one.
 */
export function findIssues(
  nodes: NodeLoader,
  model: unknown,
  roles: ComponentRoles | undefined,
  path: string,
  first: ComponentError,
): Issue[] {
  const issues: Issue[] = [];
  visit(nodes, model, roles, path, issues);
  const found = new Map(
    [...issues, ...first.issues].map((issue) => [`${issue.path}\n${issue.message}`, issue]),
  );
  return [...found.values()];
}

/** Checks children first, so that a component is built only from valid children, each once. */
function visit(
  nodes: NodeLoader,
  model: unknown,
  roles: ComponentRoles | undefined,
  path: string,
  issues: Issue[],
): Component | undefined {
  const checked = collect(issues, () => nodes.check(model, roles, path));
  const inside = checked?.config ?? (looksLikeComponent(model) ? model.config : undefined);
  const children = new Map<string, Component | undefined>();
  for (const [place, child] of componentsIn(inside, `${path}.config`)) {
    children.set(place, visit(nodes, child, undefined, place, issues));
  }
  if (checked === undefined || [...children.values()].includes(undefined)) return undefined;
  const loader: ComponentLoader = {
    load: <T extends Component>(inner: unknown, wanted: ComponentRoles, place: string): T => {
      const full = `${path}.config.${place}`;
      const innerNode = nodes.check(inner, wanted, full);
      return (children.get(full) ?? nodes.build(innerNode, full, loader)) as T;
    },
    function: (name, index) => nodes.function(name, `${path}.config.${index}`),
    skill: (name) => nodes.skill(name),
    scripts: nodes.scripts,
  };
  return collect(issues, () => nodes.build(checked, path, loader));
}

function collect<T>(issues: Issue[], attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof ComponentError)) throw error;
    for (const issue of error.issues) issues.push(issue);
    return undefined;
  }
}

/** The outermost component-like objects in a config, with their paths, in order. */
export function* componentsIn(
  value: unknown,
  path: string,
): Generator<[path: string, model: unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const place = pathOf([Array.isArray(value) ? Number(key) : key], path);
    if (looksLikeComponent(inner)) yield [place, inner];
    else yield* componentsIn(inner, place);
  }
}
