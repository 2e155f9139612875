import * as z from "zod";
import { retrySchema } from "../../../core/steps/retry-config.ts";
import type { CamelKeys } from "../../../core/options/option-names.ts";

/** `env:NAME` and `Bearer env:NAME` refer to secrets. */
const headersSchema = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .nullish();

/** OAuth credentials for a server: a token of the client credentials grant (RFC 6749, 4.4). */
const clientCredentialsSchema = z
  .object({
    client_id: z.string().min(1),
    /** May be `env:NAME` of a secret. */
    client_secret: z.string().min(1).nullish(),
    /** Instead of a secret: a PEM (PKCS #8) that signs who the client is. May be `env:NAME`. */
    private_key: z.string().min(1).nullish(),
    /** Default: RS256. */
    signing_algorithm: z
      .enum(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"])
      .nullish(),
    /** The authorization server that issued the credentials. They are sent to no other one. */
    issuer: z.url({ protocol: /^https?$/ }),
    /** Separated by spaces. Default: the scope that the server requests. */
    scope: z.string().nullish(),
  })
  .refine(({ client_secret, private_key }) => (client_secret == null) !== (private_key == null), {
    path: ["client_secret"],
    message: "or private_key must be given, and not both",
  });
export type ClientCredentials = z.output<typeof clientCredentialsSchema>;

const secondsSchema = z.number().positive();

/** The time for which requests are repeated while the server is away. AutoGen ignores the key. */
const retry = retrySchema.nullish();

/** A program that speaks MCP over its standard input and output (AutoGen `StdioServerParams`). It runs in the sandbox. */
export const stdioServerParamsSchema = z.object({
  type: z.literal("StdioServerParams"),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** The whole environment of the program, besides a PATH. A value may be `env:NAME` of a secret. */
  env: z.record(z.string(), z.string()).nullish(),
  /** Relative to the session's workspace. */
  cwd: z.string().nullish(),
  /** MCP is UTF-8; other encodings are refused. */
  encoding: z.literal("utf-8", { error: 'must be "utf-8", the encoding of MCP' }).default("utf-8"),
  encoding_error_handler: z.enum(["strict", "ignore", "replace"]).default("strict"),
  /** Seconds for an answer. */
  read_timeout_seconds: secondsSchema.default(5),
  retry,
});

/** A server of the older transport, HTTP with server-sent events (AutoGen `SseServerParams`). */
export const sseServerParamsSchema = z.object({
  type: z.literal("SseServerParams"),
  url: z.string(),
  headers: headersSchema,
  oauth: clientCredentialsSchema.nullish(),
  /** Seconds for connecting. */
  timeout: secondsSchema.default(5),
  /** Seconds for an answer. */
  sse_read_timeout: secondsSchema.default(300),
  retry,
});

/** A server of the transport Streamable HTTP (AutoGen `StreamableHttpServerParams`). */
export const streamableHttpServerParamsSchema = z.object({
  type: z.literal("StreamableHttpServerParams"),
  url: z.string(),
  headers: headersSchema,
  oauth: clientCredentialsSchema.nullish(),
  /** Seconds for connecting. */
  timeout: secondsSchema.default(30),
  /** Seconds for an answer. */
  sse_read_timeout: secondsSchema.default(300),
  /** True if the session at the server is ended when the workbench is closed. */
  terminate_on_close: z.boolean().default(true),
  retry,
});

export const mcpServerParamsSchema = z.discriminatedUnion("type", [
  stdioServerParamsSchema,
  sseServerParamsSchema,
  streamableHttpServerParamsSchema,
]);

/** The connection to an MCP server, in component JSON, with the defaults. */
export type McpServerConfig = z.output<typeof mcpServerParamsSchema>;
export type StdioServerConfig = z.output<typeof stdioServerParamsSchema>;

/** A program that speaks MCP over its standard input and output (AutoGen `StdioServerParams`). It runs in the sandbox. */
export type StdioServerParams = CamelKeys<z.input<typeof stdioServerParamsSchema>>;
/** A server of the older transport, HTTP with server-sent events (AutoGen `SseServerParams`). */
export type SseServerParams = CamelKeys<z.input<typeof sseServerParamsSchema>>;
/** A server of the transport Streamable HTTP (AutoGen `StreamableHttpServerParams`). */
export type StreamableHttpServerParams = CamelKeys<
  z.input<typeof streamableHttpServerParamsSchema>
>;
/** The connection to an MCP server. */
export type McpServerParams = CamelKeys<z.input<typeof mcpServerParamsSchema>>;

/** The host of a server, or its command, for messages. */
export function serverName(params: McpServerConfig): string {
  if (params.type === "StdioServerParams") return params.command;
  return URL.canParse(params.url) ? new URL(params.url).host : params.url;
}

/** Milliseconds for connecting, and for an answer. */
export function timeoutsOf(params: McpServerConfig): { connectMs: number; answerMs: number } {
  if (params.type === "StdioServerParams") {
    // Starting a program takes longer than its answers: npx and uvx may have to install it.
    const answerMs = params.read_timeout_seconds * 1000;
    return { connectMs: Math.max(answerMs, STDIO_START_MS), answerMs };
  }
  return { connectMs: params.timeout * 1000, answerMs: params.sse_read_timeout * 1000 };
}

const STDIO_START_MS = 60_000;
