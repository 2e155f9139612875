import * as z from "zod";
import { jsonObjectSchema } from "../../core/json-object.ts";
import { retrySchema } from "../../core/steps/retry-config.ts";
import type { CamelKeys } from "../../core/options/option-names.ts";

/**
 * An HttpTool in component JSON (AutoGen `HttpToolConfig`, which requires `description`, `port` and `headers`);
 * `policy`
 * and `retry` are Troupe's own.
 */
export const httpToolConfigSchema = z.object({
  name: z.string(),
  description: z.string().nullish(),
  scheme: z.enum(["http", "https"]).default("http"),
  host: z.string(),
  /** Default: the port of the scheme. */
  port: z.number().int().min(1).max(65_535).optional(),
  /** May contain placeholders `{name}` for arguments. */
  path: z.string().default("/"),
  method: z.enum(["GET", "POST", "PUT", "DELETE", "PATCH"]).nullish(),
  /** A value may be, or end in, `env:NAME` of a secret. */
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  /** The arguments, including those in the path. */
  json_schema: jsonObjectSchema,
  return_type: z.enum(["text", "json"]).nullish(),
  /** Seconds for the whole answer. */
  timeout: z.number().positive().default(5),
  /** The policy of a restart for an interrupted request. Default `retry` for GET, otherwise `never`. */
  policy: z.enum(["retry", "never", "ask"]).nullish(),
  /** The time for which a request is repeated while its server is away. AutoGen ignores the key. */
  retry: retrySchema.nullish(),
  /** Read and removed by the loader of components. If it were ignored here, calls would be made without approval. */
  approval: z.never({ error: "belongs to component JSON; in code, use withApproval" }).optional(),
});

/** The same in code, in camel case; a field with a default may be missing. */
export type HttpToolOptions = CamelKeys<z.input<typeof httpToolConfigSchema>>;

/** The config with its defaults. */
export type HttpToolSettings = z.output<typeof httpToolConfigSchema> & { port: number };
