import { errorMessage, type Issue, ValueError } from "../errors.ts";
import { listIssues } from "../issues.ts";
import type { JsonObject } from "../json.ts";
import { formatPython } from "./format.ts";

/** A template of a component and an example of the values it is filled with. */
export interface CheckedTemplate {
  /** The key in component JSON. */
  path: string;
  template: string;
  example: JsonObject;
}

/**
 * Fills templates with examples: a placeholder that cannot be filled would otherwise fail the run after the model was
 * paid.
 *
 * @throws ValueError naming every template that is malformed or has an unknown placeholder
 */
export function requireTemplates(templates: readonly CheckedTemplate[]): void {
  const issues = templates.flatMap(({ path, template, example }): Issue[] => {
    try {
      formatPython(template, example);
      return [];
    } catch (error) {
      return [{ path, message: errorMessage(error) }];
    }
  });
  if (issues.length > 0) throw new ValueError(listIssues(issues), { issues });
}
