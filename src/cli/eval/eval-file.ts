import { readFile } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import * as z from "zod";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import { DATA_FORMATS, HUMAN_EVAL_SCORER, importItems } from "../../evals/data/formats.ts";
import type { EvaluateOptions } from "../../evals/experiment/options.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { type Threshold, thresholdsSchema } from "./thresholds.ts";

/** The kinds of eval files: data in JSON or YAML, and modules whose default export is the same. */
const DATA = [".json", ".yaml", ".yml"];
const MODULES = [".ts", ".mts", ".js", ".mjs"];

export interface EvalFile {
  name: string;
  options: EvaluateOptions;
  thresholds: readonly Threshold[];
}

const dataSchema = z.union(
  [
    z.string(),
    z.strictObject({ format: z.enum(DATA_FORMATS), file: z.string() }),
    z.array(z.unknown()),
  ],
  `must be a list of items, the path of a file, or { format: one of ${DATA_FORMATS.join(", ")}, file }`,
);

const fileSchema = z.looseObject({
  name: z.string().optional(),
  data: dataSchema,
  variants: z.array(z.looseObject({ name: z.string() })),
  scorers: z
    .array(z.union([z.looseObject({ provider: z.string() }), z.looseObject({ name: z.string() })]))
    .optional(),
  thresholds: thresholdsSchema.default([]),
});

/**
 * Reads an eval file: the options of `evaluate`, with `thresholds`. Paths in it begin at its folder.
 *
 * @throws CliError that names what is wrong
 */
export async function readEvalFile(file: string): Promise<EvalFile> {
  const path = resolve(file);
  const { data: given, error } = fileSchema.safeParse(await valueIn(path));
  if (error !== undefined) {
    const issues = error.issues.map((issue) => ({
      path: issue.path.map(String).join("."),
      message: issue.message,
    }));
    throw wrong(`${file} is not an evaluation.`, issues);
  }
  const { thresholds, data, variants, scorers, ...rest } = given;
  const folder = dirname(path);
  const isHumanEval = typeof data === "object" && "format" in data && data.format === "human-eval";
  const options = {
    ...rest,
    data: await itemsOf(data, folder),
    variants: await Promise.all(variants.map((variant) => withComponent(variant, folder))),
    scorers: scorers ?? (isHumanEval ? [HUMAN_EVAL_SCORER] : []),
  };
  // `evaluate` checks the rest.
  return { name: given.name ?? file, options: options as unknown as EvaluateOptions, thresholds };
}

async function valueIn(path: string): Promise<unknown> {
  const kind = extname(path);
  if (MODULES.includes(kind)) {
    try {
      const module = (await import(pathToFileURL(path).href)) as { default?: unknown };
      return module.default;
    } catch (error) {
      const hint = kind.endsWith("ts") ? " (Node reads TypeScript from 22.18 on)" : "";
      throw wrong(`${path} cannot be loaded${hint}: ${errorMessage(error)}`);
    }
  }
  if (!DATA.includes(kind)) {
    throw wrong(
      `${path} is not an eval file: its name must end in ${[...DATA, ...MODULES].join(", ")}`,
    );
  }
  const text = await textOf(path);
  try {
    return kind === ".json" ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw wrong(`${path} cannot be read as ${kind.slice(1).toUpperCase()}: ${errorMessage(error)}`);
  }
}

async function itemsOf(data: z.infer<typeof dataSchema>, folder: string): Promise<unknown> {
  if (Array.isArray(data)) return data;
  const { format, file } =
    typeof data === "string" ? ({ format: "jsonl", file: data } as const) : data;
  const path = resolve(folder, file);
  const text = await textOf(path);
  try {
    return importItems(format, text);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    throw wrong(`${path} is not a dataset in the format ${format}.`, error.issues);
  }
}

/** A component may be the path of its JSON. */
async function withComponent(variant: unknown, folder: string): Promise<unknown> {
  const { component } = (variant ?? {}) as { component?: unknown };
  if (typeof component !== "string") return variant;
  const path = resolve(folder, component);
  try {
    return { ...(variant as object), component: JSON.parse(await textOf(path)) as unknown };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw wrong(`${path} is not JSON: ${errorMessage(error)}`);
  }
}

export async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw wrong(`${path} cannot be read: ${errorMessage(error)}`);
  }
}

export function wrong(
  message: string,
  issues: readonly { path: string; message: string }[] = [],
): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "invalid_file", issues });
}
