import type { AnyComponentDefinition } from "../component/component.ts";

/** A class that component JSON can name. */
interface ComponentClass {
  readonly component: AnyComponentDefinition;
}

/** The definitions of a module that exports classes of components only. */
export function componentsOf(
  classes: Readonly<Record<string, ComponentClass>>,
): AnyComponentDefinition[] {
  return Object.values(classes).map(({ component }) => component);
}
