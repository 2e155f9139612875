import { createParser } from "eventsource-parser";
import * as z from "zod";
import type { Patience } from "./patience.ts";
import { type SandboxProblem, problemFrom } from "./sandbox-problem.ts";

/** What running some blocks gave, as the sandbox says it. */
export const sandboxResultSchema = z.object({
  exit_code: z.number().int(),
  output: z.string(),
  /** Whether output beyond the sandbox's limit was left out. */
  truncated: z.boolean().default(false),
  duration_ms: z.number().optional(),
});
export type SandboxResult = z.infer<typeof sandboxResultSchema>;

/** How a streamed execution ended: with a result, or with the problem that kept it from having one. */
export type ExecutionEnd = { result: SandboxResult } | { problem: SandboxProblem };

const outputSchema = z.object({ text: z.string() });

/**
 * Reads a streamed execution: yields output as it comes, what came together in one piece.
 *
 * @returns undefined when the stream ended before it said how the execution did
 * @throws SyntaxError, ZodError for what no sandbox says; what the connection throws
 */
export async function* readExecution(
  body: ReadableStream<Uint8Array>,
  patience: Patience,
): AsyncGenerator<string, ExecutionEnd | undefined, void> {
  const { signal } = patience;
  const decoder = new TextDecoder();
  let text = "";
  const ends: ExecutionEnd[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === "output") text += outputSchema.parse(JSON.parse(data)).text;
      if (event === "result") ends.push({ result: sandboxResultSchema.parse(JSON.parse(data)) });
      if (event === "error") ends.push({ problem: problemFrom(data) });
    },
  });
  const reader = body.getReader();
  // Not every runtime ends a body with the signal of its request; a connection that broke needs no closing.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    while (ends.length === 0) {
      const { done, value } = await patience.await(reader.read());
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
