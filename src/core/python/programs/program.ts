import { ANNOTATIONS } from "./annotations.ts";
import { ANSWERS } from "./answers.ts";
import { CHOICES } from "./choices.ts";
import { FIELDS } from "./fields.ts";
import { FUNCTIONS } from "./functions.ts";
import { KINDS } from "./kinds.ts";
import { STANDARD_VALUES } from "./standard-values.ts";

/**
 * The Python that says what functions take and calls them, in the order in which its parts need each other. It needs nothing but
 * the standard library of Python 3.9 or later.
 */
export const PROGRAM = [
  KINDS,
  CHOICES,
  FIELDS,
  STANDARD_VALUES,
  ANNOTATIONS,
  FUNCTIONS,
  ANSWERS,
].join("");
