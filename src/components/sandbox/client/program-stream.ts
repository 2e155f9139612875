import { createParser } from "eventsource-parser";
import * as z from "zod";
import type { IdleTimeout } from "./idle-timeout.ts";
import { type SandboxProblem, problemFrom } from "./sandbox-problem.ts";

const startedSchema = z.object({
  program: z.string(),
  workspace: z.string(),
  // Other services than ours need not say it.
  network: z.boolean().default(true),
});
const messageSchema = z.object({ line: z.string() });
const exitSchema = z.object({
  exit_code: z.number().int().nullable(),
  stderr: z.string(),
  reason: z.string().optional(),
});

/** The events of a session's program: it starts, writes lines, ends. */
export type ProgramEvent =
  | { type: "started"; program: string; workspace: string; network: boolean }
  | { type: "line"; line: string }
  | { type: "exit"; exitCode: number | null; stderr: string; reason: string }
  | { type: "problem"; problem: SandboxProblem };

/**
 * Reads the stream of a program that speaks over its standard input and output. Ends when the stream does.
 *
 * @throws SyntaxError, ZodError for a stream that violates the protocol; what the connection throws
 */
export async function* readProgram(
  body: ReadableStream<Uint8Array>,
  timeout: IdleTimeout,
): AsyncGenerator<ProgramEvent, void, void> {
  const { signal } = timeout;
  const decoder = new TextDecoder();
  let events: ProgramEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const parsed = parse(event ?? "", data);
      if (parsed !== undefined) events.push(parsed);
    },
  });
  const reader = body.getReader();
  // Not every runtime cancels a body when its request is aborted.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await timeout.wait(reader.read());
      signal.throwIfAborted();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events;
      events = [];
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

function parse(event: string, data: string): ProgramEvent | undefined {
  switch (event) {
    case "started":
      return { type: "started", ...startedSchema.parse(JSON.parse(data)) };
    case "line":
      return { type: "line", ...messageSchema.parse(JSON.parse(data)) };
    case "exit": {
      const { exit_code: exitCode, stderr, reason = "" } = exitSchema.parse(JSON.parse(data));
      return { type: "exit", exitCode, stderr, reason };
    }
    case "error":
      return { type: "problem", problem: problemFrom(data) };
    default:
      return undefined;
  }
}
