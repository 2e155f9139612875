import * as z from "zod";
import { jsonObjectSchema } from "../../core/json.ts";

/** An HttpTool in component JSON (AutoGen `HttpToolConfig`, which requires `description`, `port` and `headers`); `policy` is ours. */
export const httpToolConfigSchema = z.object({
  name: z.string(),
  description: z.string().nullish(),
  scheme: z.enum(["http", "https"]).default("http"),
  host: z.string(),
  /** Default: the port of the scheme. */
  port: z.number().int().min(1).max(65_535).optional(),
  /** May hold `{name}` of arguments. */
  path: z.string().default("/"),
  method: z.enum(["GET", "POST", "PUT", "DELETE", "PATCH"]).nullish(),
  /** A value may be, or end in, `env:NAME` of a secret. */
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  /** The arguments, those in the path included. */
  json_schema: jsonObjectSchema,
  return_type: z.enum(["text", "json"]).nullish(),
  /** Seconds for the whole answer. */
  timeout: z.number().positive().default(5),
  /** What a restart does with a request that was under way. Default `retry` for GET, else `never`. */
  policy: z.enum(["retry", "never", "ask"]).nullish(),
  /** Whoever loads a tool's JSON takes it off and honours it. Ignored, a call would go out that nobody approved. */
  approval: z
    .never({ error: "stands in component JSON only; in code, use withApproval" })
    .optional(),
});

/** The config as it is written; what may be left out may be missing. */
export type HttpToolConfig = z.input<typeof httpToolConfigSchema>;

/** The config with its defaults. */
export type HttpToolSettings = z.output<typeof httpToolConfigSchema> & { port: number };
