import * as z from "zod";
import { isPath } from "../workspace-path.ts";
import type { StoredEntry, Workspace } from "./workspace.ts";

/** What a request to execute answers. */
export const executionResultSchema = z.object({
  exit_code: z
    .number()
    .int()
    .describe("Of the last block that ran; 124 after a timeout, 125 cancelled, 137 out of memory."),
  output: z
    .string()
    .describe("What the blocks printed, standard output and errors in their order."),
  truncated: z.boolean().describe("Whether there was more output than is kept."),
  duration_ms: z.number().int().min(0).describe("Without the time it waited for others."),
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
  /** Of the request, to tell another one under the same key. */
  fingerprint: z.string(),
});

const recordedSchema = keyedSchema.extend({
  result: executionResultSchema.omit({ output: true }),
  /** The output itself where it is short, else where it is. */
  output: z.union([z.object({ text: z.string() }), z.object({ blob })]),
});

const manifestSchema = z.object({
  version: z.literal(1),
  session: z.string(),
  entries: z.array(z.tuple([z.string().refine(isPath), entrySchema])),
  /** Of the last keys, the oldest first. */
  results: z.array(recordedSchema),
  /** What began and has no result, where code can have effects that are not undone. */
  begun: keyedSchema.optional(),
});

export type Keyed = z.output<typeof keyedSchema>;
export type Recorded = z.output<typeof recordedSchema>;

/** Everything a session is, at one moment. */
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

/** @throws Error when the text is no manifest of this session */
export function decodeManifest(session: string, text: string): Manifest {
  const read = manifestSchema.parse(JSON.parse(text));
  if (read.session !== session) throw new Error("It is the manifest of another session.");
  return { workspace: new Map(read.entries), results: read.results, begun: read.begun };
}

/** The blobs that something in the manifest stands in. */
export function blobsOf({ workspace, results }: Manifest): Set<string> {
  const blobs = new Set<string>();
  for (const entry of workspace.values()) if (entry.type === "file") blobs.add(entry.blob);
  for (const { output } of results) if ("blob" in output) blobs.add(output.blob);
  return blobs;
}
