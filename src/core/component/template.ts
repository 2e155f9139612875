import type { ComponentModel } from "./component-model.ts";

/** A team or agent that is defined in code and can be started by name. */
export interface Template {
  /** Snake_case, unique. */
  name: string;
  /** What it shows and what it needs, for choosing one. */
  description: string;
  /** A task that shows what it can do, for trying it. */
  task?: string;
  component: ComponentModel;
}
