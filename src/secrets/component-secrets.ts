import type { ComponentModel } from "../core/component/component-model.ts";

/** Protects the secrets of a component in storage and in responses. */
export interface ComponentSecrets {
  /** For storage. @param previous the sealed component this one replaces: redacted secrets are taken from it */
  seal(component: ComponentModel, previous: ComponentModel | null): Promise<ComponentModel>;
  open(sealed: ComponentModel): Promise<ComponentModel>;
  /** For showing. */
  redact(sealed: ComponentModel): ComponentModel;
}
