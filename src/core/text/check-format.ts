import { errorMessage, type Issue, ValueError } from "../errors.ts";
import { listIssues } from "../issues.ts";
import type { JsonObject } from "../json.ts";
import { formatPython, parseTemplate } from "./format.ts";
import { isIgnored } from "./format-value.ts";

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

/**
 * Notes on placeholders of templates that {@link requireTemplates} accepts whose specification is Python's and has no effect here.
 *
 * @param path the place of `templates` in the component
 * @param isNumber whether the value at a path in what the template is filled with is known to be a number
 */
export function formatNotes(
  path: string,
  templates: { readonly [key: string]: string | null | undefined },
  isNumber: (path: readonly string[]) => boolean = () => false,
): Issue[] {
  return Object.entries(templates).flatMap(([key, template]) =>
    parseTemplate(template ?? "")
      .filter((part) => typeof part !== "string")
      .filter(({ conversion, spec, path: keys }) =>
        isIgnored(spec, conversion === undefined && isNumber(keys)),
      )
      .map(({ text }) => ({ path: `${path}.${key}`, message: `"{${text}}" ${IGNORED}` })),
  );
}

const IGNORED =
  "is shown without its format: numbers take [[fill]align][sign][0][width][,][.precision] with f, d or %, texts [[fill]align][width][.precision]";
