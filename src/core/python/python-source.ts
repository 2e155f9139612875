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
  /** Names of environment variables that it has when it is called. */
  env?: string[];
}

export function pythonSource(
  source: string,
  imports: readonly Import[] = [],
  env: readonly string[] = [],
): PythonSource {
  return {
    imports: imports.map(importStatement),
    source,
    ...(env.length > 0 && { env: env.toSorted() }),
  };
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
