import * as z from "zod";
import { hash64 } from "../hash.ts";

const aliasSchema = z.object({ name: z.string(), alias: z.string() });

/** An import as AutoGen dumps it: a module, a module with an alias, names from a module. */
export const importSchema = z.union([
  z.string(),
  aliasSchema,
  z.object({ module: z.string(), imports: z.array(z.union([z.string(), aliasSchema])) }),
]);
export type Import = z.infer<typeof importSchema>;

/** A function in Python: import statements, then its source. */
export interface PythonSource {
  imports: string[];
  source: string;
  /** The function that is called, where it is not the first of the source. */
  function?: string;
  /** Names of environment variables that it has when it is called. */
  env?: string[];
}

/** @param tool the tool's name: of several functions, the one with this name is called, else the first one, as in AutoGen */
export function pythonSource(
  tool: string,
  source: string,
  imports: readonly Import[] = [],
  env: readonly string[] = [],
): PythonSource {
  const [first, ...others] = functionNames(source);
  return {
    imports: imports.map(importStatement),
    source,
    ...(first !== tool && others.includes(tool) && { function: tool }),
    ...(env.length > 0 && { env: env.toSorted() }),
  };
}

/** The names of the functions at the top of a source, in their order. */
export function functionNames(source: string): string[] {
  const definitions = source.matchAll(/^(?:async[ \t]+)?def[ \t]+([\p{L}_][\p{L}\p{N}_]*)/gmu);
  return Array.from(definitions, ([, name = ""]) => name);
}

/** Identifies the source that a finding is about. */
export function hashOfSource(source: PythonSource): string {
  const text = JSON.stringify(source);
  return hash64(text) + hash64(text, 1);
}

function importStatement(statement: Import): string {
  if (typeof statement === "string") return `import ${statement}`;
  if ("alias" in statement) return `import ${withAlias(statement)}`;
  return `from ${statement.module} import ${statement.imports.map(withAlias).join(", ")}`;
}

function withAlias(name: string | z.infer<typeof aliasSchema>): string {
  return typeof name === "string" ? name : `${name.name} as ${name.alias}`;
}
