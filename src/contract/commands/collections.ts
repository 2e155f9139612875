import * as z from "zod";
import {
  chunkPageSchema,
  collectionPageSchema,
  collectionResultSchema,
  collectionSchema,
  documentPageSchema,
  documentSchema,
  putCollectionSchema,
  searchCollectionSchema,
  titleSchema,
} from "../files/collection.ts";
import { MAX_DOCUMENT_BYTES } from "../constants.ts";
import {
  integerParameter,
  listCursorParameter,
  pageSizeParameter,
  type QueryLimits,
} from "../query-parameters.ts";
import { nothingSchema } from "../run.ts";
import { command } from "./command.ts";

const page = (limits: QueryLimits) =>
  z.strictObject({ limit: pageSizeParameter(limits), cursor: listCursorParameter });

const DOCUMENT = "/v1/collections/:collection/documents/:document{[^/]+}";

/** Collections of documents, which agents search. */
export const collectionCommands = {
  listCollections: command({
    method: "get",
    path: "/v1/collections",
    summary: "The collections, by id",
    tag: "Knowledge",
    scope: "teams:read",
    query: page,
    answers: {
      200: { description: "A page.", schema: { CollectionPage: collectionPageSchema } },
    },
  }),

  putCollection: command({
    method: "put",
    path: "/v1/collections/:collection",
    summary: "Create a collection, or change its description and embedding",
    tag: "Knowledge",
    scope: "teams:write",
    body: putCollectionSchema,
    answers: {
      200: { description: "It is changed.", schema: { Collection: collectionSchema } },
      201: {
        description: "It is created.",
        schema: { Collection: collectionSchema },
        location: true,
      },
    },
    problems: [404, 409],
  }),

  getCollection: command({
    method: "get",
    path: "/v1/collections/:collection",
    summary: "A collection, with the progress of its embedding",
    tag: "Knowledge",
    scope: "teams:read",
    answers: { 200: { description: "The collection.", schema: { Collection: collectionSchema } } },
    problems: [404],
  }),

  deleteCollection: command({
    method: "delete",
    path: "/v1/collections/:collection",
    summary: "Delete a collection with its documents and vectors",
    tag: "Knowledge",
    scope: "teams:write",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
  }),

  embedCollection: command({
    method: "post",
    path: "/v1/collections/:collection/embed",
    summary: "Embed what has no vector of the present embedding, also what has failed",
    tag: "Knowledge",
    scope: "teams:write",
    body: nothingSchema,
    bodyOptional: true,
    answers: {
      202: { description: "Embedding continues.", schema: { Collection: collectionSchema } },
    },
    problems: [404, 409],
  }),

  searchCollection: command({
    method: "post",
    path: "/v1/collections/:collection/search",
    summary: "The parts of documents that answer a question",
    tag: "Knowledge",
    scope: "teams:read",
    body: searchCollectionSchema,
    answers: {
      200: {
        description: "The best first.",
        schema: { CollectionResult: collectionResultSchema },
      },
    },
    problems: [404],
  }),

  listDocuments: command({
    method: "get",
    path: "/v1/collections/:collection/documents",
    summary: "The documents of a collection, by id",
    tag: "Knowledge",
    scope: "teams:read",
    query: page,
    answers: { 200: { description: "A page.", schema: { DocumentPage: documentPageSchema } } },
    problems: [404],
  }),

  putDocument: command({
    method: "put",
    path: DOCUMENT,
    summary: "Put a document: its bytes, or JSON with its text; embedded in the background",
    tag: "Knowledge",
    scope: "teams:write",
    reads: "file",
    maxBytes: MAX_DOCUMENT_BYTES,
    query: () =>
      z.strictObject({
        title: titleSchema
          .optional()
          .describe("The title of raw bytes. Left out, the title that the document has."),
        metadata: z
          .record(z.string(), z.string())
          .optional()
          .describe("The metadata of raw bytes: metadata.KEY=value, for filters."),
      }),
    answers: {
      202: {
        description: "It is stored and found by its words; the status says how far it is embedded.",
        schema: { Document: documentSchema },
        location: true,
      },
    },
    problems: [404, 413, 415, 422, 503, 507],
  }),

  getDocument: command({
    method: "get",
    path: DOCUMENT,
    summary: "A document without its content, with the progress of its embedding",
    tag: "Knowledge",
    scope: "teams:read",
    answers: { 200: { description: "The document.", schema: { Document: documentSchema } } },
    problems: [404],
  }),

  listChunks: command({
    method: "get",
    path: `${DOCUMENT}/chunks`,
    summary: "The parts of a document that are searched and cited, in their order",
    tag: "Knowledge",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        from: integerParameter(0, Number.MAX_SAFE_INTEGER)
          .optional()
          .describe("The first chunk of the page; 0 by default."),
        limit: pageSizeParameter(limits),
      }),
    answers: { 200: { description: "A page.", schema: { ChunkPage: chunkPageSchema } } },
    problems: [404],
  }),

  deleteDocument: command({
    method: "delete",
    path: DOCUMENT,
    summary: "Delete a document with its chunks and vectors",
    tag: "Knowledge",
    scope: "teams:write",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
  }),
};
