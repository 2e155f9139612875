import type { ComponentModel } from "./component.ts";

/** A team or agent that is defined in code and can be started by name. */
export interface Template {
  /** Snake_case, unique. */
  name: string;
  /** For whoever chooses one: what it shows and what it needs. */
  description: string;
  component: ComponentModel;
}
