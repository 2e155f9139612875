import * as z from "zod";
import type { CodeBlock, CodeResult } from "../../core/code/code-block.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { beginningOf } from "../../core/cut.ts";
import { errorMessage } from "../../core/errors.ts";
import { blockModules, MAX_OUTPUT_LENGTH } from "./block-worker.ts";
import { BodyTooLongError, piecesOf } from "./bounded-body.ts";
import { isolatedWorker, type WorkerLoaderBinding } from "./worker-loader.ts";

/** The most bytes of a complete output as JSON lines: a character takes at most six of them, and each line a few more. */
const MAX_BYTES = MAX_OUTPUT_LENGTH * 20;

/** Each block is a Worker of its own, which costs. */
const MAX_BLOCKS = 32;

/** The exit code of a block that takes too long, as a sandbox has it. */
const TIMED_OUT = 124;

const lineSchema = z.union([
  z.object({ output: z.string() }),
  z.object({ exit_code: z.number().int(), truncated: z.boolean() }),
]);

/**
 * Runs blocks of JavaScript up to the first that fails, each in a Worker of its own: no block sees what another one left behind, and
 * there are no files. A block counts its own output, but it can change what counts: the output of all is cut here, too.
 */
export async function* executeBlocks(
  loader: WorkerLoaderBinding,
  blocks: readonly CodeBlock[],
  seconds: number,
  { signal }: Pick<StepAttempt, "signal">,
): AsyncGenerator<string, CodeResult, void> {
  if (blocks.length > MAX_BLOCKS) {
    const output = `The code was not run: it has ${blocks.length} blocks of JavaScript, and at most ${MAX_BLOCKS} are allowed.`;
    return { exit_code: 1, output };
  }
  const printed: Printed = { output: "", truncated: false };
  let end: End = { exit_code: 0 };
  for (const { code } of blocks) {
    end = yield* executeBlock(loader, code, seconds, signal, printed);
    if (end.exit_code !== 0) break;
  }
  const { exit_code, why = "" } = end;
  const more = printed.truncated ? "\n[There was more output.]" : "";
  return { exit_code, output: printed.output + more + why };
}

/** The output of all blocks so far. */
interface Printed {
  output: string;
  truncated: boolean;
}

/** The end of a block, and the reason if it has not ended by itself. */
interface End {
  exit_code: number;
  why?: string;
}

async function* executeBlock(
  loader: WorkerLoaderBinding,
  code: string,
  seconds: number,
  signal: AbortSignal,
  printed: Printed,
): AsyncGenerator<string, End, void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), seconds * 1000);
  const either = AbortSignal.any([signal, late.signal]);
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
          printed.truncated ||= read.truncated;
          return { exit_code: read.exit_code };
        }
        const kept = beginningOf(read.output, MAX_OUTPUT_LENGTH - printed.output.length);
        printed.truncated ||= kept.length < read.output.length;
        printed.output += kept;
        if (kept !== "") yield kept;
      }
    }
    return { exit_code: 1, why: "The code ended without an exit code." };
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return { exit_code: TIMED_OUT };
    const why = error instanceof BodyTooLongError ? "it printed too much" : errorMessage(error);
    return { exit_code: 1, why: `The code was stopped: ${why}` };
  } finally {
    clearTimeout(timer);
  }
}
