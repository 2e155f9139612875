import * as z from "zod";
import { parseOptions } from "../../options/option-names.ts";
import { requireTemplates } from "../../text/check-format.ts";
import { formatPython } from "../../text/format.ts";

/** The texts that a code executor agent says itself. Python formats; doubled braces are literal. */
export interface ExecutorPrompts {
  /** The answer when no message has code in it; shown as it is. */
  noCodeBlocks: string;
  /** Replaces an empty output. Over `{exit_code}`. */
  emptyOutput: string;
  /** The output of code that failed. Over `{exit_code}`, `{output}`. */
  errorOutput: string;
  /** Asks the model whether to try again. Over `{output}`. */
  retry: string;
}

export const executorPromptsSchema = z.object({
  no_code_blocks: z.string().optional(),
  empty_output: z.string().optional(),
  error_output: z.string().optional(),
  retry: z.string().optional(),
});

const DEFAULT_PROMPTS: ExecutorPrompts = {
  noCodeBlocks:
    "There is no code to run in these messages. Put it into a fenced Markdown block that names its language, such as ```python.",
  emptyOutput:
    "The code ended with exit code {exit_code} and printed nothing. Only what is printed can be seen.",
  errorOutput: "The code failed with exit code {exit_code}. It printed:\n{output}",
  retry:
    "Running your code failed:\n{output}\n\nIs it worth another attempt? Answer in JSON: `retry` is true if you can write code that gets further, and `reason` says what went wrong and what you will change, or why to leave it.",
};

const EXAMPLES = {
  empty_output: { exit_code: 0 },
  error_output: { exit_code: 1, output: "" },
  retry: { output: "" },
};

/** @throws ValueError naming each template that is malformed or has an unknown placeholder */
export function promptsOf(given: Partial<ExecutorPrompts> | undefined): ExecutorPrompts {
  const prompts = { ...DEFAULT_PROMPTS, ...given };
  const config = parseOptions(executorPromptsSchema, prompts, "prompts");
  requireTemplates(
    Object.entries(EXAMPLES).map(([key, example]) => ({
      path: `executor_prompts.${key}`,
      template: config[key as keyof typeof EXAMPLES] ?? "",
      example,
    })),
  );
  return prompts;
}

export function emptyOutput({ emptyOutput: template }: ExecutorPrompts, exitCode: number): string {
  return formatPython(template, { exit_code: exitCode });
}

export function errorOutput(
  { errorOutput: template }: ExecutorPrompts,
  exitCode: number,
  output: string,
): string {
  return formatPython(template, { exit_code: exitCode, output });
}
