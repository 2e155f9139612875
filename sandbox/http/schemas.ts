import * as z from "zod";
import { executionResultSchema } from "../sessions/manifest.ts";
import type { Settings } from "../settings.ts";
import { pathProblem } from "../workspace-path.ts";

/** Valid names of sessions, and keys of executions. */
export const sessionPattern = /^[A-Za-z0-9_-]{1,128}$/;
export const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** What Linux allows for one argument or variable, and with some room for both together. */
const MAX_STRING_BYTES = 131_000;
const MAX_STRINGS_BYTES = 1_000_000;

/** Variables that a shell sets itself, and that it lets no program set. */
const OF_SHELLS = new Set(["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"]);

/** An argument or a variable of a program. */
const programText = z
  .string()
  .refine((text) => !text.includes("\0"), "has a NUL")
  .refine((text) => Buffer.byteLength(text) <= MAX_STRING_BYTES, {
    message: `has more than ${MAX_STRING_BYTES} bytes`,
  });

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .refine((name) => !OF_SHELLS.has(name), "is set by shells");

/** Names of folders, and the most of one request. */
const folderPattern = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_FOLDERS = 8;

const MAX_VARIABLES = 100;
const MAX_VARIABLES_BYTES = 200_000;

/** What the sandbox sets itself, and what makes interpreters, shells and the loader of programs work differently. */
const RESERVED =
  /^(PATH|HOME|PWD|OLDPWD|TMPDIR|LANG|LC_.*|XDG_.*|LD_.*|PYTHON.*|NODE_.*|SANDBOX_.*|MPL.*|ENV|BASH_.*|SHELL|IFS|PS[0-4]|CDPATH)$/;

/** The variables of code. */
const envSchema = z
  .record(
    variableName.refine((name) => !RESERVED.test(name), "is not a variable that a request may set"),
    programText.refine((text) => text.isWellFormed(), "has broken Unicode"),
  )
  .refine(
    (env) => Object.keys(env).length <= MAX_VARIABLES,
    `has more than ${MAX_VARIABLES} variables`,
  )
  .refine(
    (env) => Buffer.byteLength(Object.entries(env).flat().join(" ")) <= MAX_VARIABLES_BYTES,
    `has more than ${MAX_VARIABLES_BYTES} bytes`,
  );

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
    env: envSchema
      .optional()
      .describe(
        "Environment variables of this request's code. Their values are not stored, and are replaced by `[redacted]` in its output.",
      ),
    folders: z
      .array(
        z.strictObject({
          name: z
            .string()
            .regex(folderPattern)
            .describe("The folder's name below `$SANDBOX_FOLDERS`."),
          session: z.string().regex(sessionPattern).describe("The session that has its files."),
          files: z
            .number()
            .int()
            .min(1)
            .describe("The number of its files: a folder that was not sent to its end is refused."),
        }),
      )
      .max(MAX_FOLDERS)
      .refine(
        (folders) => new Set(folders.map(({ name }) => name)).size === folders.length,
        "must not name a folder twice",
      )
      .optional()
      .describe("Files of other sessions, which the code of this request can read and not change."),
  });
}

/** The body of a request to start a program. */
export const programSchema = z
  .strictObject({
    command: programText.min(1).max(4096).describe("A program in the PATH of the service."),
    args: z.array(programText).max(1000).default([]),
    env: z
      .record(variableName, programText)
      .default({})
      .describe("In addition to PATH, HOME, TMPDIR and LANG."),
    cwd: z
      .string()
      // The workspace under the name by which the program knows it.
      .transform((path) => path.replace(/^\/workspace(\/|$)/, "").replace(/^\.(\/|$)/, ""))
      .refine(
        (path) => path === "" || pathProblem(path) === undefined,
        "is not a path below the workspace",
      )
      .nullable()
      .default(null)
      .describe("Below the workspace: `sub`, `./sub` or `/workspace/sub`."),
  })
  .refine(
    ({ command, args, env }) =>
      Buffer.byteLength([command, ...args, ...Object.entries(env).flat()].join(" ")) <=
      MAX_STRINGS_BYTES,
    `Arguments and variables may have ${MAX_STRINGS_BYTES} bytes together.`,
  );

export const fileSchema = z.object({
  path: z.string(),
  size: z.number().int().min(0).describe("In bytes."),
  modified_at: z.iso.datetime(),
});

const MAX_LISTED = 1000;

/** The query of a list of files. */
export const fileQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,4}$/, `must be a whole number from 1 to ${MAX_LISTED}`)
    .default(String(MAX_LISTED))
    .transform(Number)
    .refine(
      (limit) => limit >= 1 && limit <= MAX_LISTED,
      `must be a whole number from 1 to ${MAX_LISTED}`,
    )
    .describe("Files of a page."),
  cursor: z.string().optional().describe("`next_cursor` of the page before."),
});

const isolationSchema = z.object({
  isolation: z.enum(["wasm", "process"]),
  walls: z.array(z.enum(["namespaces", "cgroups"])),
});

export const schemas = {
  Result: executionResultSchema,
  Files: z.object({
    files: z.array(fileSchema),
    next_cursor: z.string().nullable().describe("The cursor of the next page, if there is one."),
  }),
  Languages: z.object({
    isolation: z.enum(["wasm", "process"]),
    languages: z.array(
      z.object({
        name: z.string(),
        aliases: z.array(z.string()),
        version: z.string(),
        packages: z
          .array(z.object({ name: z.string(), version: z.string() }))
          .optional()
          .describe("What code can import besides the standard library."),
      }),
    ),
  }),
  Health: z.object({
    status: z.literal("ok"),
    code: isolationSchema.describe("What isolates code."),
    programs: isolationSchema
      .nullable()
      .describe("What isolates programs of MCP servers; null where they cannot run."),
    env: z.literal(true).describe("Requests to execute code may have `env`."),
    folders: z.literal(true).describe("Requests to execute code may have `folders`."),
    missing: z.array(z.string()).optional().describe("What this machine lacks for full isolation."),
  }),
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
