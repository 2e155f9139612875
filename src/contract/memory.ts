import * as z from "zod";
import {
  describedJson,
  describedObject,
  idSchema,
  openObjectSchema,
  timeSchema,
} from "./common.ts";
import { userSchema } from "./user.ts";

/** The most contents of one request. */
const MOST_AT_ONCE = 1_000;
const LONGEST_CONTENT = 100_000;

export const memoryScopeSchema = z.enum(
  ["team", "user", "tenant"],
  'must be "team", "user" or "tenant"',
);

export type MemoryScopeName = z.output<typeof memoryScopeSchema>;

const CONTENT = `must be a text of 1 to ${LONGEST_CONTENT} characters, or a JSON object of as many`;
const CONTENTS = `must be a list of 1 to ${MOST_AT_ONCE} entries`;

const contentSchema = z
  .union(
    [
      z.string().min(1, CONTENT).max(LONGEST_CONTENT, CONTENT),
      openObjectSchema.refine((value) => JSON.stringify(value).length <= LONGEST_CONTENT, CONTENT),
    ],
    CONTENT,
  )
  .meta({ description: "A text, or a JSON object." });

const metadataSchema = describedObject("Any JSON, for filters.").nullable();

const placeShape = {
  scope: memoryScopeSchema.optional(),
  team: idSchema.optional().describe("With the scope team."),
  user: userSchema.optional().describe("With the scope user; a token has its own."),
};

const contentShape = { content: contentSchema, metadata: metadataSchema.default(null) };

/** One content, or several for the same place: all of them are stored, or none. */
export const createMemoriesSchema = z
  .strictObject({
    ...placeShape,
    content: contentSchema.optional(),
    metadata: metadataSchema.optional(),
    memories: z
      .array(z.strictObject({ ...placeShape, ...contentShape }), CONTENTS)
      .min(1, CONTENTS)
      .max(MOST_AT_ONCE, CONTENTS)
      .optional(),
  })
  .superRefine(({ content, memories, metadata }, context) => {
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    if (content === undefined && memories === undefined)
      issue("content", 'is missing: give "content", or several in "memories"');
    if (memories === undefined) return;
    if (content !== undefined) issue("content", 'belongs to one entry: "memories" have their own');
    if (metadata !== undefined)
      issue("metadata", 'belongs to one entry: "memories" have their own');
  });

export const changeMemorySchema = z
  .strictObject({ content: contentSchema.optional(), metadata: metadataSchema.optional() })
  .refine(
    ({ content, metadata }) => content !== undefined || metadata !== undefined,
    'must have "content" or "metadata"',
  );

export const memorySchema = z.object({
  id: z.string().describe("Names its scope, too."),
  content: describedJson("A text, or a JSON object."),
  metadata: metadataSchema,
  scope: memoryScopeSchema,
  score: z
    .number()
    .optional()
    .describe("In answers to q: the cosine similarity, or BM25 where only words were compared."),
  source: z
    .object({
      team: idSchema,
      run: z.string(),
      turn: z.number().int().min(0),
      message: z.string().nullable(),
    })
    .nullable()
    .describe("Where it was learned; null for what a person has added."),
  created_at: timeSchema,
});

export type Memory = z.output<typeof memorySchema>;

export const memoryPageSchema = z.object({
  memories: z.array(memorySchema),
  next_cursor: z.string().nullable(),
  mode: z
    .enum(["hybrid", "words"])
    .optional()
    .describe("In answers to q: `hybrid` if meanings were compared, too."),
  note: z.string().optional().describe("In answers to q: what could not be searched, and why."),
});

export type MemoryList = z.output<typeof memoryPageSchema>;

/** The users of whom something is remembered. */
export const memoryUsersSchema = z.object({
  users: z.array(z.string()),
  next_cursor: z.string().nullable(),
});

export const createdMemoriesSchema = z.object({ memories: z.array(memorySchema) });

export const forgottenSchema = z.object({
  forgotten: z.number().int().min(0).describe("Entries that were erased."),
});
