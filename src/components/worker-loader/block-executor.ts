import * as z from "zod";
import type { CodeBlock, CodeResult } from "../../core/code/code-block.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { errorMessage } from "../../core/errors.ts";
import { blockModules, MAX_OUTPUT_LENGTH } from "./block-worker.ts";
import { BodyTooLongError, piecesOf } from "./bounded-body.ts";
import { isolatedWorker, type WorkerLoaderBinding } from "./worker-loader.ts";

/** The most bytes of a complete output as JSON lines: a character takes at most six of them, and each line a few more. */
const MAX_BYTES = MAX_OUTPUT_LENGTH * 20;

/** The exit code of a block that takes too long, as a sandbox has it. */
const TIMED_OUT = 124;

const lineSchema = z.union([
  z.object({ output: z.string() }),
  z.object({ exit_code: z.number().int(), truncated: z.boolean() }),
]);

/**
 * Runs blocks of JavaScript up to the first that fails, each in a Worker of its own: no block sees what another one left behind, and
 * there are no files.
 */
export async function* executeBlocks(
  loader: WorkerLoaderBinding,
  blocks: readonly CodeBlock[],
  seconds: number,
  { signal }: Pick<StepAttempt, "signal">,
): AsyncGenerator<string, CodeResult, void> {
  let output = "";
  for (const { code } of blocks) {
    const result = yield* executeBlock(loader, code, seconds, signal);
    output += result.output;
    if (result.exit_code !== 0) return { ...result, output };
  }
  return { exit_code: 0, output };
}

async function* executeBlock(
  loader: WorkerLoaderBinding,
  code: string,
  seconds: number,
  signal: AbortSignal,
): AsyncGenerator<string, CodeResult, void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), seconds * 1000);
  const either = AbortSignal.any([signal, late.signal]);
  let output = "";
  try {
    const worker = loader.load(isolatedWorker(blockModules(code), seconds));
    const response = await worker
      .getEntrypoint()
      .fetch("http://block/", { method: "POST", signal: either });
    let rest = "";
    for await (const piece of piecesOf(response, MAX_BYTES, either)) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const read = lineSchema.parse(JSON.parse(line));
        if ("exit_code" in read) {
          const end = read.truncated ? "\n[There was more output.]" : "";
          return { exit_code: read.exit_code, output: output + end };
        }
        output += read.output;
        yield read.output;
      }
    }
    return { exit_code: 1, output: `${output}The code ended without an exit code.` };
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return { exit_code: TIMED_OUT, output };
    const why = error instanceof BodyTooLongError ? "it printed too much" : errorMessage(error);
    return { exit_code: 1, output: `${output}The code was stopped: ${why}` };
  } finally {
    clearTimeout(timer);
  }
}
