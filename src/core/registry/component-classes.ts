import type { AnyComponentDefinition } from "../component/component.ts";

/** A class that component JSON can name. */
interface ComponentClass {
  readonly component: AnyComponentDefinition;
}

/** A class whose definition needs parts of its host, such as `fetch`. `component` makes it and is `@internal`. */
interface HostedClass<Dependencies> {
  readonly component: (dependencies: Dependencies) => AnyComponentDefinition;
}

/** The definitions of a module that exports classes of components only. */
export function componentsOf(
  classes: Readonly<Record<string, ComponentClass>>,
): AnyComponentDefinition[] {
  return Object.values(classes).map(({ component }) => component);
}

/** The same for a module with classes whose definitions need parts of their host. */
export function componentsFor<Dependencies>(
  classes: Readonly<Record<string, ComponentClass | HostedClass<Dependencies>>>,
  dependencies: Dependencies,
): AnyComponentDefinition[] {
  return Object.values(classes).map(({ component }) =>
    typeof component === "function" ? component(dependencies) : component,
  );
}
