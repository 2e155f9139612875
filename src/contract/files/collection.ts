import * as z from "zod";
import { metadataFilterSchema, textLanguageSchema } from "../../core/memory/memory-schemas.ts";
import { MAX_DOCUMENT_CHUNKS } from "../constants.ts";
import { describedObject, idSchema, textSchema, timeSchema } from "../common.ts";
import { metadataSchema } from "../team.ts";
import { tokenUsageSchema } from "../usage/usage-schemas.ts";

/** The form of a document's id: also the name of a file. */
export const DOCUMENT_ID = /^[A-Za-z0-9_.~-]{1,200}$/;
const DESCRIPTION = "must be a text of at most 2000 characters";
const LONGEST_TITLE = 500;
const LONGEST_QUERY = 10_000;
const MOST_RESULTS = 100;

export const putCollectionSchema = z.strictObject({
  description: z
    .string(DESCRIPTION)
    .max(2_000, DESCRIPTION)
    .nullable()
    .default(null)
    .describe("What its documents are."),
  embedding: describedObject(
    'An embedding client as a component, for example {"provider": "troupe.embeddings.OpenAIEmbeddingClient", "config": {"model": "text-embedding-3-small"}}. Null: documents are found by their words.',
  )
    .nullable()
    .default(null),
  language: textLanguageSchema
    .default("auto")
    .describe(
      "The language of the documents, whose word endings are known. auto: each is looked at.",
    ),
});

export const collectionSchema = z.object({
  id: idSchema,
  description: z.string().nullable(),
  embedding: describedObject("The embedding client, with its secrets redacted.").nullable(),
  language: textLanguageSchema,
  documents: z.number().int().min(0),
  chunks: z.number().int().min(0),
  embedded: z.number().int().min(0).describe("Chunks with a vector of the present embedding."),
  failed: z.number().int().min(0).describe("Documents that could not be embedded."),
  embedding_tokens: z
    .number()
    .int()
    .min(0)
    .describe("Tokens of its documents and of questions outside of runs."),
  note: z
    .string()
    .nullable()
    .describe("What keeps its documents from being found by their meaning."),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export type CollectionInfo = z.output<typeof collectionSchema>;

export const collectionPageSchema = z.object({
  collections: z.array(collectionSchema),
  unusable: z
    .array(z.object({ id: idSchema, code: z.string(), detail: z.string() }))
    .optional()
    .describe(
      "Those of the page whose stored data cannot be used, each with its problem. Left out if there are none.",
    ),
  next_cursor: z.string().nullable(),
});

export type CollectionPage = z.output<typeof collectionPageSchema>;

export const titleSchema = textSchema(LONGEST_TITLE);

const chunkSchema = z.object({
  chunk: z.number().int().min(0).describe("Its place in the document, as citations name it."),
  heading: z.string().nullable(),
  page: z.number().int().min(1).nullable(),
  content: z.string(),
});

const CONTENT = "must be a text of 1 to 20,000 characters";
const CHUNKS = `must be a list of 1 to ${MAX_DOCUMENT_CHUNKS} chunks`;

/** The JSON form of a document: its text, or its parts as another collection shows them. */
export const putDocumentSchema = z
  .strictObject({
    title: titleSchema.nullable().default(null),
    mime_type: textSchema(200),
    content: z.string("must be a text").optional(),
    chunks: z
      .array(
        z.strictObject({
          heading: z
            .string()
            .max(20_000, "must have at most 20,000 characters")
            .nullable()
            .default(null),
          page: chunkSchema.shape.page.default(null),
          content: z.string(CONTENT).min(1, CONTENT).max(20_000, CONTENT),
        }),
      )
      .min(1, CHUNKS)
      .max(MAX_DOCUMENT_CHUNKS, CHUNKS)
      .optional()
      .describe("The parts of the document in their order, which are stored as they are."),
    metadata: metadataSchema.default({}),
  })
  .refine(({ content, chunks }) => (content === undefined) !== (chunks === undefined), {
    path: ["content"],
    error: 'give "content" or "chunks", one of them',
  });

export const documentSchema = z.object({
  id: z.string(),
  title: z.string().nullable(),
  mime_type: z.string(),
  status: z
    .enum(["queued", "embedding", "ready", "failed"])
    .describe("It is found by its words at once, by its meaning when it is ready."),
  chunks: z.number().int().min(0),
  embedded: z.number().int().min(0).describe("Chunks that have a vector."),
  error: z.string().nullable().describe("Why it could not be embedded, and what to do."),
  metadata: metadataSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
});

export type DocumentInfo = z.output<typeof documentSchema>;

export const documentPageSchema = z.object({
  documents: z.array(documentSchema),
  next_cursor: z.string().nullable(),
});

export type DocumentPage = z.output<typeof documentPageSchema>;

export const chunkPageSchema = z.object({
  chunks: z.array(chunkSchema),
  next_from: z.number().int().nullable().describe("The `from` of the next page."),
});

export type ChunkPage = z.output<typeof chunkPageSchema>;

const RESULTS = `must be a whole number from 1 to ${MOST_RESULTS}`;

export const searchCollectionSchema = z.strictObject({
  q: textSchema(LONGEST_QUERY),
  k: z.number(RESULTS).int(RESULTS).min(1, RESULTS).max(MOST_RESULTS, RESULTS).default(5),
  filter: metadataFilterSchema
    .nullable()
    .default(null)
    .describe("Metadata that the documents must have: a value for a key, or a list of values."),
});

export const collectionResultSchema = z.object({
  results: z.array(
    chunkSchema.extend({
      document: z.string(),
      score: z
        .number()
        .describe("The cosine similarity to the question; BM25 for parts without a vector."),
    }),
  ),
  mode: z.enum(["hybrid", "words"]).describe("words: no vectors were compared."),
  note: z.string().optional().describe("Why only words were compared, and what to do."),
  usage: tokenUsageSchema
    .optional()
    .describe("The tokens of the question; absent if nothing was embedded."),
});
