import type { ComponentModel } from "./component-model.ts";

/** A team or agent that is defined in code and can be started by name. */
export interface Template {
  /** Snake_case, unique. */
  name: string;
  /** Its abilities and requirements, to help choose a template. */
  description: string;
  /** An example task for a first try. */
  task?: string;
  component: ComponentModel;
  /** The collection of documents that it searches, which the tenant gets with the first team made of it. */
  collection?: TemplateCollection;
}

/** A collection of Markdown documents. */
export interface TemplateCollection {
  id: string;
  description: string;
  documents: readonly { id: string; content: string }[];
}
