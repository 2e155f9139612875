import type { ComponentModel } from "../core/component/component.ts";

/** What happens to the secrets in a component between the API, storage and the objects made of it. */
export interface ComponentSecrets {
  /** For storage. @param previous the sealed component this one replaces: redacted secrets are taken from it */
  seal(component: ComponentModel, previous: ComponentModel | null): Promise<ComponentModel>;
  open(sealed: ComponentModel): Promise<ComponentModel>;
  /** For showing. */
  redact(sealed: ComponentModel): ComponentModel;
}
