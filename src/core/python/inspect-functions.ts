import * as z from "zod";
import { errorMessage, TroupeError } from "../errors.ts";
import { type JsonObject, jsonObjectSchema } from "../json.ts";
import { pythonRequest } from "./python-code.ts";
import { type PythonHost, runBlock } from "./python-host.ts";
import type { PythonSource } from "./python-source.ts";

/** Seconds for the functions of one component, and for one go at them: a source may loop for ever when it is imported. */
const LIMIT_SECONDS = 30;
const BLOCK_SECONDS = 10;

/** Characters of JSON for what is found out about the functions of one component, which becomes a part of it. */
const MOST_FOUND = 500_000;

/** What was found out about a function, or what is wrong with it and with which key of its config. */
export const findingSchema = z.union([
  z.object({ parameters: jsonObjectSchema, description: z.string() }),
  z.object({ place: z.string(), message: z.string() }),
]);
export type Finding = z.infer<typeof findingSchema>;

const answerSchema = z.object({ number: z.number().int(), finding: findingSchema });

const TOO_LONG: Finding = {
  place: "source_code",
  message: `the parameters and docstrings of this component's functions are too long: over ${MOST_FOUND} characters of JSON`,
};

/**
 * The parameters of functions as JSON Schema, found out by the Python that will call them: all in one request, in a
 * session of their own that is removed afterwards.
 *
 * @throws TroupeError `sandbox_unavailable` when there is no answer
 */
export async function inspectFunctions(
  host: PythonHost,
  sources: readonly PythonSource[],
): Promise<Finding[]> {
  const executor = host.scratch(BLOCK_SECONDS);
  const signal = AbortSignal.timeout(LIMIT_SECONDS * 1000);
  const findings: Finding[] = [];
  let room = MOST_FOUND;
  try {
    // A function that ends the interpreter, or never ends, takes those after it along: they get another go, and so does
    // what was cut off because there was too much. The first one of a go is to blame when there is no answer at all.
    while (findings.length < sources.length) {
      const rest = sources.slice(findings.length);
      const request = await pythonRequest("inspect_functions", rest, "inspect");
      const attempt = { attempt: 1, idempotencyKey: `inspect ${findings.length}`, signal };
      const result = await runBlock(executor, request.block, attempt);
      const found = request.answers(result.output).flatMap(readAnswer);
      const answered = found.filter(({ number }, index) => number === index && index < rest.length);
      for (const { finding } of answered) {
        const size = JSON.stringify(finding).length;
        const fits = size <= room;
        if (fits) room -= size;
        findings.push(fits ? finding : TOO_LONG);
      }
      if (answered.length === 0) {
        findings.push({
          place: "source_code",
          message: `cannot be loaded: ${request.end(result)}`,
        });
      }
    }
    return findings;
  } catch (error) {
    const why = signal.aborted ? `no answer in ${LIMIT_SECONDS} s` : errorMessage(error);
    throw new TroupeError(
      "sandbox_unavailable",
      `The sandbox did not say what the Python functions take: ${why}`,
      { cause: error },
    );
  } finally {
    await executor.close().catch(() => undefined);
  }
}

/** Nothing for what is no answer: a function can write lines of its own. */
function readAnswer(answer: JsonObject): z.infer<typeof answerSchema>[] {
  try {
    return [answerSchema.parse(answer)];
  } catch {
    // Also when it is nested so deeply that the stack ends.
    return [];
  }
}
