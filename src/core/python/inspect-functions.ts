import * as z from "zod";
import { errorMessage, TroupeError } from "../errors.ts";
import { jsonObjectSchema } from "../json-object.ts";
import type { JsonObject } from "../json.ts";
import { pythonRequest } from "./python-request.ts";
import { type PythonHost, runBlock } from "./python-host.ts";
import type { PythonSource } from "./python-source.ts";

/** Seconds for all functions of one component, and for one request: a source may loop forever when it is imported. */
const LIMIT_SECONDS = 30;
const BLOCK_SECONDS = 10;

/** Characters of JSON for the findings on all functions of one component, in which they are stored. */
const MAX_FINDINGS_LENGTH = 500_000;

/** The most packages in one command. */
const MOST_TOGETHER = 100;

/**
 * The most packages that the source imports and the sandbox does not have; limited, because it is stored in the
 * component.
 */
const missingSchema = z
  .array(
    z
      .string()
      .max(100)
      .regex(/^[\p{L}_][\p{L}\p{N}_.]*$/u),
  )
  .max(20)
  .optional();

/** The packages that a source lacks. A note shows them as a line for a shell, and a source can forge its answer: only names and paths pass. */
const lackSchema = z.object({
  missing: missingSchema,
  /** The interpreter, where it is that of a virtual environment, which takes packages. */
  python: z
    .string()
    .max(500)
    .regex(/^\/[\w./@+-]+$/)
    .optional()
    .catch(undefined),
  /** All that the functions of the component lack. */
  missing_together: z.array(z.string()).optional(),
});

/** The signature of a function, or an error in its source and the config key it is in. */
export const findingSchema = z.union([
  lackSchema.extend({ parameters: jsonObjectSchema, description: z.string() }),
  lackSchema.extend({ place: z.string(), message: z.string() }),
]);
export type Finding = z.infer<typeof findingSchema>;

const answerSchema = z.object({ number: z.number().int(), finding: findingSchema });

const TOO_LONG: Finding = {
  place: "source_code",
  message: `the parameters and docstrings of this component's functions are too long: at most ${MAX_FINDINGS_LENGTH} characters of JSON`,
};

/**
 * The parameters of functions as JSON Schema, inspected by the Python that will call them: all in one request, in a
 * scratch session that is removed afterwards.
 *
 * @throws TroupeError `sandbox_unavailable` when the sandbox does not answer
 */
export async function inspectFunctions(
  host: PythonHost,
  sources: readonly PythonSource[],
): Promise<Finding[]> {
  const executor = host.scratch(BLOCK_SECONDS);
  const signal = AbortSignal.timeout(LIMIT_SECONDS * 1000);
  const findings: Finding[] = [];
  let remaining = MAX_FINDINGS_LENGTH;
  try {
    // A source that ends the interpreter, or never ends, leaves those after it without an answer, and so does truncated
    // output: the rest is requested again. When a request gives no answer at all, its first source is at fault.
    while (findings.length < sources.length) {
      const rest = sources.slice(findings.length);
      const request = await pythonRequest("inspect_functions", rest, "inspect");
      const attempt = { attempt: 1, idempotencyKey: `inspect ${findings.length}`, signal };
      const result = await runBlock(executor, request.block, attempt);
      const found = request.answers(result.output).flatMap(readAnswer);
      const answered = found.filter(({ number }, index) => number === index && index < rest.length);
      for (const { finding } of answered) {
        const size = JSON.stringify(finding).length;
        const fits = size <= remaining;
        if (fits) remaining -= size;
        findings.push(fits ? finding : TOO_LONG);
      }
      if (answered.length === 0) {
        findings.push({
          place: "source_code",
          message: `cannot be loaded: ${request.end(result)}`,
        });
      }
    }
    return findings.map((finding) => together(finding, findings));
  } catch (error) {
    const why = signal.aborted ? `no answer in ${LIMIT_SECONDS} s` : errorMessage(error);
    throw new TroupeError(
      "sandbox_unavailable",
      `The sandbox could not inspect the Python functions: ${why}`,
      { cause: error },
    );
  } finally {
    await executor.close().catch(() => undefined);
  }
}

/** Adds to what one function lacks the packages of all others, which one command installs. */
function together(finding: Finding, all: readonly Finding[]): Finding {
  const { missing = [], missing_together: _, python, ...rest } = finding;
  if (missing.length === 0) return rest;
  const others = all.flatMap((other) => other.missing ?? []);
  return {
    ...rest,
    missing,
    missing_together: [...new Set([...missing, ...others])].slice(0, MOST_TOGETHER),
    // It is stored as JSON, which has no undefined values.
    ...(python !== undefined && { python }),
  };
}

/** Empty for invalid answers: a function can write lines of its own. */
function readAnswer(answer: JsonObject): z.infer<typeof answerSchema>[] {
  try {
    return [answerSchema.parse(answer)];
  } catch {
    // Invalid, or nested so deeply that the stack overflows.
    return [];
  }
}
