import { createParser } from "eventsource-parser";
import * as z from "zod";
import type { IdleTimeout } from "./idle-timeout.ts";
import { type SandboxProblem, problemFrom } from "./sandbox-problem.ts";

/** The result of an execution, as in the sandbox's protocol (docs/sandbox.md). */
export interface SandboxResult {
  exit_code: number;
  output: string;
  /** True if output beyond the sandbox's limit was left out. */
  truncated: boolean;
  duration_ms?: number | undefined;
  /** Paths of files that the code wrote. */
  files: string[];
}

export const sandboxResultSchema: z.ZodType<SandboxResult> = z.object({
  exit_code: z.number().int(),
  output: z.string(),
  truncated: z.boolean().default(false),
  duration_ms: z.number().optional(),
  files: z.array(z.string()).default([]),
});

/** The end of a streamed execution: a result, or the problem that prevented one. */
export type ExecutionEnd = { result: SandboxResult } | { problem: SandboxProblem };

const outputSchema = z.object({ text: z.string() });

const waitingSchema = z.object({ reason: z.string() });

/**
 * Reads a streamed execution. Yields output as it arrives, in one piece what arrived together, and a line in brackets when
 * the code has to wait; the result does not contain such lines.
 *
 * @returns undefined when the stream broke off before the execution ended
 * @throws SyntaxError, ZodError for a stream that violates the protocol; what the connection throws
 */
export async function* readExecution(
  body: ReadableStream<Uint8Array>,
  timeout: IdleTimeout,
): AsyncGenerator<string, ExecutionEnd | undefined, void> {
  const { signal } = timeout;
  const decoder = new TextDecoder();
  let text = "";
  const ends: ExecutionEnd[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === "output") text += outputSchema.parse(JSON.parse(data)).text;
      if (event === "waiting") text += waitingNote(waitingSchema.parse(JSON.parse(data)).reason);
      if (event === "result") ends.push({ result: sandboxResultSchema.parse(JSON.parse(data)) });
      if (event === "error") ends.push({ problem: problemFrom(data) });
    },
  });
  const reader = body.getReader();
  // Not every runtime cancels a body when its request is aborted; a broken connection needs no closing.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    while (ends.length === 0) {
      const { done, value } = await timeout.wait(reader.read());
      // A cancelled body ends as if it were complete.
      signal.throwIfAborted();
      if (done) break;
      parser.feed(decoder.decode(value, { stream: true }));
      if (text !== "") yield text;
      text = "";
    }
    return ends[0];
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

function waitingNote(reason: string): string {
  switch (reason) {
    case "session":
      return "[Waiting: other code of this session is still running.]\n";
    case "interrupted":
      return "\n[Interrupted, because other sessions wait too. The code will start again from its beginning.]\n";
    default:
      return "[Waiting: the sandbox is busy with other code.]\n";
  }
}
