import type * as z from "zod";
import type { Scope } from "../constants.ts";
import type { QueryLimits } from "../query-parameters.ts";
import type { Idempotency } from "../common.ts";
import type { RunInfo } from "../run.ts";
import type { Result } from "../result.ts";

/** The groups of operations in the OpenAPI document, in its order. */
export const TAGS = [
  "Teams",
  "Runs",
  "Files",
  "Schedules",
  "Triggers",
  "Tasks",
  "Memories",
  "Knowledge",
  "Skills",
  "Webhooks",
  "Connections",
  "Keys",
  "Usage",
  "Tenants",
  "OpenAI",
  "AG-UI",
  "AI SDK",
  "A2A",
  "MCP",
  "Service",
] as const;

/** One operation of the API: its request and its responses. */
export interface Command {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** In Hono's notation: `/v1/teams/:team`. Parameters are ids, except `:path{[^]+}`: the path of a file. */
  path: string;
  /** The `operationId`, if it differs from the command's name. */
  id?: string;
  summary: string;
  tag: (typeof TAGS)[number];
  /**
   * The scope that the key must have; null for commands without authentication; `each`: the handler checks for it; `questions`:
   * `runs:read`, or a scope that may answer questions.
   */
  scope: Scope | "any" | "each" | "operator" | "questions" | null;
  /**
   * The object that carries out the command, with the method of the command's name. The method gets the parameters of
   * the path after the object's own, then the body, the query and the idempotency key, as far as the command has them.
   * A command without an object has a handler among the routes.
   */
  object?: "team" | "tenant";
  body?: z.ZodType;
  /** The most bytes of the body, where it differs from the limit of all bodies. */
  maxBytes?: number;
  /** An empty body stands for `{}`. */
  bodyOptional?: boolean;
  /** The handler reads the body: a file of any media type, a JSON-RPC message, the form of a page, or a form with a file. */
  reads?: "file" | "message" | "form" | "upload";
  /** The JSON that a handler which reads a file takes as well. */
  json?: z.ZodType;
  /** A strict object. `metadata` in it is a record, given as `metadata.KEY=value`. */
  query?: (limits: QueryLimits) => z.ZodObject;
  /** It is about all teams of the tenant: callers who have only their own are refused. */
  ofTenant?: true;
  /** Reads `Idempotency-Key`. */
  idempotent?: boolean;
  /** Reads `If-Match`: the `ETag` of an answer with `etag`. */
  conditional?: boolean;
  /** Its response is a stream that `Last-Event-ID` continues. */
  resumable?: boolean;
  answers: { readonly [status: number]: ResponseSpec };
  /** Statuses of its problems besides those of every operation. */
  problems?: readonly number[];
}

export interface ResponseSpec {
  description: string;
  /** The schema of a JSON body by its name in the OpenAPI document: `{ Run: runSchema }`. */
  schema?: { readonly [name: string]: z.ZodType };
  /** The media type of a body that is not JSON. */
  media?: string;
  /** It is a stream of server-sent events, which are such frames; instead of `media`. */
  frames?: "StreamFrame" | "TenantFrame";
  /** The response has `Location`. For a run that an object answers with, a function gives the location. */
  location?: true | ((run: RunInfo) => string);
  /** The response has `ETag`. */
  etag?: true;
}

/** Infers the types of a command's parts. */
export function command<const Spec extends Command>(spec: Spec): Spec {
  return spec;
}

/** The methods of an object that carry out the commands of a table. */
export type ObjectCalls<Table, Kind extends "team" | "tenant"> = {
  [Name in keyof Table as Table[Name] extends { object: Kind } ? Name : never]: (
    ...args: Given<Table[Name]>
  ) => Promise<Result<ValueOf<Table[Name]>>>;
};

type Given<Spec> = [
  ...(Spec extends { path: infer Path extends string } ? Own<ParameterNames<Path>> : []),
  ...(Spec extends { body: infer Body extends z.ZodType } ? Fields<z.output<Body>> : []),
  ...(Spec extends { query: (limits: QueryLimits) => infer Query extends z.ZodType }
    ? [query: z.output<Query>]
    : []),
  ...(Spec extends { idempotent: true } ? [idempotency?: Idempotency] : []),
];

/** The names of the parameters of a path. */
export type ParameterNames<Path extends string> =
  Path extends `${string}/:${infer Name}/${infer Rest}`
    ? [WithoutPattern<Name>, ...ParameterNames<`/${Rest}`>]
    : Path extends `${string}/:${infer Name}`
      ? [WithoutPattern<Name>]
      : [];

type WithoutPattern<Name extends string> = Name extends `${infer Plain}{${string}` ? Plain : Name;

/** The parameters that do not name the object itself. */
type Own<Names extends readonly string[]> = Names extends [
  infer First,
  ...infer Rest extends string[],
]
  ? First extends "team" | "tenant"
    ? Own<Rest>
    : [string, ...Own<Rest>]
  : [];

/** A body without fields is not passed as an argument. */
type Fields<Body> = Body extends Record<string, never> ? [] : [body: Body];

/** The result of a command: the output of its schema, null without one. */
export type ValueOf<Spec> = Spec extends { answers: infer Answers }
  ? OutputOf<Answers[keyof Answers]>
  : never;

type OutputOf<Answer> = Answer extends { schema: infer Named extends Record<string, z.ZodType> }
  ? z.output<Named[keyof Named]>
  : null;
