import type { ComponentModel } from "../core/component/component-model.ts";

/** A component whose secrets were opened as far as they can be read. */
export interface OpenedComponent {
  component: ComponentModel;
  /** The paths of those that were stored with another key; the component has markers for them. */
  unreadable: readonly string[];
  /** Why the first of them cannot be read. */
  cause: unknown;
}

/** Protects the secrets of a component in storage and in responses. */
export interface ComponentSecrets {
  /** For storage. @param previous the sealed component this one replaces: redacted secrets are taken from it */
  seal(component: ComponentModel, previous: ComponentModel | null): Promise<ComponentModel>;
  /**
   * For storage: an earlier component of the same owner. It gets the secrets of the present one where {@link seal} would keep them,
   * and has its own elsewhere.
   */
  restore(sealed: ComponentModel, present: ComponentModel): Promise<ComponentModel>;
  /** For running. @throws TroupeError `secrets_unreadable` when SECRETS_KEY is not the one they were stored with */
  open(sealed: ComponentModel): Promise<ComponentModel>;
  /** For what needs no secret, such as the state. */
  openReadable(sealed: ComponentModel): Promise<OpenedComponent>;
  /** For showing. */
  redact(sealed: ComponentModel): ComponentModel;
}
