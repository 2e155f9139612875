import * as z from "zod";
import { isPath } from "../workspace-path.ts";
import type { StoredEntry, Workspace } from "./workspace.ts";

/** The response to a request to execute code. */
export const executionResultSchema = z.object({
  exit_code: z
    .number()
    .int()
    .describe(
      "Of the last block that ran; 124 after a timeout, 125 when cancelled, 137 for too much memory.",
    ),
  output: z.string().describe("Standard output and errors of all blocks, in order."),
  truncated: z.boolean().describe("Whether output was left out."),
  duration_ms: z.number().int().min(0).describe("The running time, without waiting."),
  files: z
    .array(z.string())
    // Results recorded by earlier versions have none.
    .default([])
    .describe("The paths of files that the code wrote and kept, the first 50 in their order."),
});

export type ExecutionResult = z.output<typeof executionResultSchema>;

const blob = z.string().regex(/^[0-9a-f]{32}$/);

const entrySchema: z.ZodType<StoredEntry> = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("file"),
    blob,
    size: z.number().int().min(0),
    mode: z.number().int().min(0).max(0o777),
    modified_at: z.iso.datetime(),
  }),
  z.object({ type: z.literal("link"), target: z.string() }),
  z.object({ type: z.literal("directory") }),
]);

const keyedSchema = z.object({
  key: z.string(),
  /** A hash of the request, to detect another request with the same key. */
  fingerprint: z.string(),
});

const recordedSchema = keyedSchema.extend({
  result: executionResultSchema.omit({ output: true }),
  /** The output itself if it is short, otherwise its blob. */
  output: z.union([z.object({ text: z.string() }), z.object({ blob })]),
});

const manifestSchema = z.object({
  version: z.literal(1),
  session: z.string(),
  entries: z.array(z.tuple([z.string().refine(isPath), entrySchema])),
  /** Results of the last keys, the oldest first. */
  results: z.array(recordedSchema),
  /** The execution that has started and has no result, if its effects cannot be undone. */
  begun: keyedSchema.optional(),
});

export type Keyed = z.output<typeof keyedSchema>;
export type Recorded = z.output<typeof recordedSchema>;

/** The complete state of a session. */
export interface Manifest {
  workspace: Workspace;
  results: readonly Recorded[];
  begun?: Keyed | undefined;
}

export const NEW_SESSION: Manifest = { workspace: new Map(), results: [] };

export function encodeManifest(session: string, { workspace, results, begun }: Manifest): string {
  return JSON.stringify({
    version: 1,
    session,
    entries: [...workspace],
    results: [...results],
    begun,
  } satisfies z.input<typeof manifestSchema>);
}

/** @throws Error when the text is not a manifest of this session */
export function decodeManifest(session: string, text: string): Manifest {
  const read = manifestSchema.parse(JSON.parse(text));
  if (read.session !== session) throw new Error("It is the manifest of another session.");
  return { workspace: new Map(read.entries), results: read.results, begun: read.begun };
}

/** The blobs that a manifest names. */
export function blobsOf({ workspace, results }: Manifest): Set<string> {
  const blobs = new Set<string>();
  for (const entry of workspace.values()) if (entry.type === "file") blobs.add(entry.blob);
  for (const { output } of results) if ("blob" in output) blobs.add(output.blob);
  return blobs;
}
