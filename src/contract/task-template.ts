import * as z from "zod";
import { parsePlaceholders } from "../core/text/placeholders.ts";
import { LONGEST_TRIGGER_TASK } from "./constants.ts";

/** A task with placeholders such as `{{ issue.title }}`. */
export const taskTemplateSchema = z
  .string()
  .min(1, "must not be empty")
  .max(LONGEST_TRIGGER_TASK, `must have at most ${LONGEST_TRIGGER_TASK} characters`)
  .superRefine((text, context) => {
    try {
      parsePlaceholders(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      context.addIssue({ code: "custom", message: `is not a template: ${error.message}` });
    }
  });
