import type { ComponentModel } from "../../core/component/component-model.ts";
import { type Component, dumpComponent } from "../../core/component/component.ts";
import type { Template } from "../../core/component/template.ts";

/** A template that builds its team on first use, because otherwise every start of the Worker would build it. */
export function lazyTemplate(about: Omit<Template, "component">, build: () => Component): Template {
  let component: ComponentModel | undefined;
  return {
    ...about,
    get component() {
      component ??= dumpComponent(build());
      return component;
    },
  };
}
