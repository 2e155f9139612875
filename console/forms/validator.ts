import type { RJSFValidationError, ValidationData, ValidatorType } from "@rjsf/utils";
import { errorTree, problemsOf } from "./problems.ts";

/**
 * Interprets schemas. The forms' own validators compile schemas to code, which the page's Content-Security-Policy forbids.
 */
export const validator: ValidatorType = {
  validateFormData(data, schema): ValidationData<unknown> {
    const problems = problemsOf(data, schema);
    const errors: RJSFValidationError[] = problems.map(({ steps, message }) => ({
      stack: `${steps.join(".")} ${message}`.trim(),
      message,
    }));
    return { errors, errorSchema: errorTree(problems) };
  },
  isValid: (schema, data, root) =>
    problemsOf(data, { ...schema, $defs: { ...root.$defs, ...schema.$defs } }).length === 0,
  rawValidation: () => ({ errors: [] }),
};
