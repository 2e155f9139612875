import * as z from "zod";

/** The first line of a part. */
export const statePartHeaderSchema = z.strictObject({
  type: z.literal("troupe.state"),
  version: z.literal(1),
  /** Id of the state, so that parts of different states are not mixed. */
  state: z.string().min(1).max(200),
  /** The team's turn at which the state was taken. */
  turn: z.number().int().nonnegative(),
  /** True if a run was cancelled at this turn. */
  cancelled: z.boolean(),
  /** Number of the part, from 1. */
  part: z.number().int().positive(),
  /** The `next_cursor` of the part before; null in the first. */
  cursor: z.string().nullable(),
});

/** The last line of a part. */
export const statePartEndSchema = z.strictObject({
  type: z.literal("end"),
  /** Lines between the first and this one. */
  lines: z.number().int().nonnegative(),
  /** Hash over all earlier lines: SHA-256 of the previous hash and the line, in a chain that begins with "". */
  hash: z.string(),
  /** The cursor of the next part; null in the last. */
  next_cursor: z.string().nullable(),
});

const path = z.string().max(4_000);

/** The lines of a part between the first and the last. A body that is null comes before its line in `text` lines. */
export const stateRowSchema = z.discriminatedUnion("type", [
  /** The small state of one of the root's participants, by the paths of its parts. */
  z.strictObject({
    type: z.literal("head"),
    path,
    body: z.record(z.string(), z.unknown()).nullable(),
  }),
  /** Items of a log: a thread or a model context. */
  z.strictObject({
    type: z.literal("log"),
    path,
    start: z.number().int().nonnegative(),
    count: z.number().int().positive(),
    body: z.array(z.unknown()).nullable(),
  }),
  /** A message of the conversation, in its order. */
  z.strictObject({
    type: z.literal("message"),
    seq: z.number().int().positive(),
    id: z.string().nullable(),
    body: z.record(z.string(), z.unknown()).nullable(),
  }),
  /** Bytes of a body that is too large for one line, as base64. */
  z.strictObject({
    type: z.literal("text"),
    of: path,
    n: z.number().int().nonnegative(),
    body: z.string(),
  }),
]);

export type StatePartHeader = z.output<typeof statePartHeaderSchema>;
export type StatePartEnd = z.output<typeof statePartEndSchema>;
export type StateRow = z.output<typeof stateRowSchema>;

/** The parts of a state that wait for their commit. */
export const stagedStateSchema = z.object({
  state: z.string().nullable(),
  parts: z.array(z.object({ part: z.number(), hash: z.string(), lines: z.number() })),
  complete: z.boolean().describe("Whether all parts are here, so that the state can be committed."),
});

export type StagedState = z.output<typeof stagedStateSchema>;

export const commitStateSchema = z.strictObject({
  state: z.string().min(1).max(200).describe("The `state` of its parts."),
});
