import * as z from "zod";
import { executionResultSchema } from "../sessions/manifest.ts";
import type { Settings } from "../settings.ts";

/** Valid names of sessions, and keys of executions. */
export const sessionPattern = /^[A-Za-z0-9_-]{1,128}$/;
export const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** The body of a request to execute. */
export function executeSchema({ maxBlocks, timeoutSeconds, maxTimeoutSeconds }: Settings) {
  return z.strictObject({
    code_blocks: z
      .array(
        z.strictObject({
          language: z.string().max(64).describe("A name or alias of GET /v1/languages."),
          code: z.string().refine((code) => code.isWellFormed(), "has broken Unicode"),
        }),
      )
      .min(1)
      .max(maxBlocks)
      .describe("Run in order; the first that fails ends the request."),
    timeout_seconds: z
      .number()
      .positive()
      .max(maxTimeoutSeconds)
      .default(timeoutSeconds)
      .describe("The time limit of each block."),
  });
}

export const fileSchema = z.object({
  path: z.string(),
  size: z.number().int().min(0).describe("In bytes."),
  modified_at: z.iso.datetime(),
});

export const schemas = {
  Result: executionResultSchema,
  Files: z.object({ files: z.array(fileSchema) }),
  Languages: z.object({
    isolation: z.enum(["wasm", "process"]),
    languages: z.array(
      z.object({ name: z.string(), aliases: z.array(z.string()), version: z.string() }),
    ),
  }),
  Health: z.object({ status: z.literal("ok") }),
  OpenApi: z.looseObject({ openapi: z.string() }),
  Problem: z.object({
    type: z.string().describe("A URN with the code."),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe("What is wrong with the request."),
    code: z.string().describe("Stable, for programs."),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
};

export type SchemaName = keyof typeof schemas;
