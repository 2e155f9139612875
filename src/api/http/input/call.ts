import { beginningOf } from "../../../core/cut.ts";
import type { Context } from "hono";
import type * as z from "zod";
import { sha256Hex } from "../../../core/hash.ts";
import { HOPS_HEADER, HOPS_MEMBER, MAX_HOPS } from "../../../core/steps/hops.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import { readTraceContext } from "../../../telemetry/spans/trace-context.ts";
import { fieldIssues } from "../../../core/field-checks.ts";
import { issuesOf, namesKnownFields } from "../../../core/issues.ts";
import type { Idempotency } from "../../../contract/common.ts";
import type { Principal } from "../../auth/principal.ts";
import { callerOf } from "../access/access-control.ts";
import { exactValueOf, type JsonBody, readJson } from "./body.ts";
import type { CheckedRequest, Endpoint, Match } from "../endpoint/endpoint.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";
import { ID } from "../../../contract/constants.ts";
import type { Services } from "../endpoint/services.ts";

const LONGEST_KEY = 255;

/**
 * Reads and checks all parts of a request that its endpoint declares.
 *
 * @throws ProblemError 400, 404, 413, 415 or 422
 */
export async function readCall(
  { endpoint, parameters }: Match,
  c: Context,
  principal: Principal,
  { gateway, limits }: Pick<Services, "gateway" | "limits">,
): Promise<CheckedRequest> {
  requireIds(endpoint, parameters);
  const query = readQuery(endpoint, new URL(c.req.url).searchParams);
  const key = endpoint.idempotent ? readKey(c.req.header("idempotency-key")) : undefined;
  const ifMatch = endpoint.conditional && readTags(c.req.header("if-match"));
  const max_body_bytes = Math.max(limits.max_body_bytes, endpoint.maxBytes ?? 0);
  const read = endpoint.body && (await readJson(c.req.raw, { ...limits, max_body_bytes }));
  const body = endpoint.body && readBody(endpoint, endpoint.body, read as JsonBody);
  const param = (name: string): string => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`${endpoint.path} has no parameter ${name}`);
    return value;
  };
  return {
    body,
    exactBody: () => (read === undefined ? {} : exactValueOf(read)),
    query,
    param,
    file: () => filePathOf(c.req.url),
    get team() {
      const user = namedUser(body) ?? namedUser(query);
      const { signal } = c.req.raw;
      return gateway.team(principal.tenant, param("team"), callerOf(principal, { signal, user }));
    },
    principal,
    ...(key !== undefined && { idempotency: await idempotencyOf(principal, key, read?.bytes) }),
    ...(ifMatch && { ifMatch }),
    c,
  };
}

/** The user that a body or a query names. */
function namedUser(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("user" in input)) return undefined;
  return typeof input.user === "string" ? input.user : undefined;
}

/** All ids have one form, so a value of another form names nothing. Parameters with a pattern are not ids. */
function requireIds({ path }: Endpoint, parameters: Match["parameters"]): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (ID.test(value) || path.includes(`:${name}{`)) continue;
    throw new ProblemError({
      status: 404,
      code: `${name}_not_found`,
      detail: `There is no ${name} ${JSON.stringify(beginningOf(value, 100))}: ids match ${ID.source}.`,
    });
  }
}

/** The token of a stream is read by authentication. */
const CREDENTIAL = "token";

/** The query parameter that is a record: `metadata.KEY=value` for each of its keys. */
export const COLLECTED = "metadata";

/** Parameters whose names end with `[]` are lists, others are given once. */
function readQuery(
  { query: schema, resumable, ignoresUnknownQuery }: Endpoint,
  parameters: URLSearchParams,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  const shape = schema?.shape ?? {};
  const collects = Object.hasOwn(shape, COLLECTED);
  const collected: Record<string, string> = {};
  for (const [name, value] of parameters) {
    if (ignoresUnknownQuery && !Object.hasOwn(shape, name)) continue;
    if (name.endsWith("[]") && Object.hasOwn(shape, name)) {
      given[name] = parameters.getAll(name);
      continue;
    }
    if (parameters.getAll(name).length > 1) {
      throw invalid("invalid_query", "A query parameter is given twice.", [
        { path: name, message: "must be given once" },
      ]);
    }
    if (resumable && name === CREDENTIAL) continue;
    if (collects && name.startsWith(`${COLLECTED}.`)) {
      collected[name.slice(COLLECTED.length + 1)] = value;
    } else if (collects && name === COLLECTED) {
      throw invalid("invalid_query", "The query string is invalid.", [
        { path: name, message: `must name a key: ${COLLECTED}.KEY=value` },
      ]);
    } else {
      given[name] = value;
    }
  }
  if (Object.keys(collected).length > 0) given[COLLECTED] = collected;
  const result = schema?.safeParse(given, { error: namesKnownFields });
  if (result?.success) return result.data;
  const issues = result ? issuesOf(result.error) : fieldIssues(given, {}, "");
  if (issues.length === 0) return {};
  // A parameter without a name.
  const named = issues.map((issue) => (issue.path === "" ? { ...issue, path: "query" } : issue));
  throw invalid("invalid_query", "The query string is invalid.", named);
}

function readBody(endpoint: Endpoint, schema: z.ZodType, { value }: JsonBody): unknown {
  if (value === undefined && !endpoint.bodyOptional) {
    throw new ProblemError({
      status: 400,
      code: "malformed_json",
      detail: "The body is empty; it must be a JSON object.",
    });
  }
  const result = schema.safeParse(value === undefined ? {} : value, { error: namesKnownFields });
  if (result.success) return result.data;
  throw invalid("invalid_request", "The body is invalid.", issuesOf(result.error));
}

function readKey(key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  if (key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key)) return key;
  throw invalid(
    "invalid_idempotency_key",
    `Idempotency-Key must be 1 to ${LONGEST_KEY} visible ASCII characters.`,
    [{ path: "Idempotency-Key", message: `must be 1 to ${LONGEST_KEY} visible ASCII characters` }],
  );
}

const TAG = String.raw`(?:W/)?"([\x21\x23-\x7e]*)"`;
const TAGS = new RegExp(String.raw`^\s*${TAG}(?:\s*,\s*${TAG})*\s*$`);

/**
 * The tags of `If-Match`; undefined without the header and for `*`. Weak tags are as good as strong ones: what compresses a
 * response on its way makes its tag a weak one.
 */
function readTags(header: string | undefined): string[] | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  if (TAGS.test(header))
    return Array.from(header.matchAll(new RegExp(TAG, "g")), ([, tag = ""]) => tag);
  const message = 'must be an ETag in quotation marks, such as "3", several of them, or *';
  throw invalid("invalid_if_match", `If-Match ${message}.`, [{ path: "If-Match", message }]);
}

/** The key of a request. Users who have only their own teams do not find what others have made with the same key. */
export async function idempotencyOf(
  { own_teams_of: user }: Principal,
  key: string,
  body: string | Uint8Array<ArrayBuffer> = new Uint8Array(),
): Promise<Idempotency> {
  const hash = await sha256Hex(body);
  if (user === undefined) return { key, hash };
  return { key: `of a user ${await sha256Hex(JSON.stringify([user, key]))}`, hash };
}

/** The trace of a request's caller, which a run continues, and its hop count, as fields of the run's input. @throws ProblemError 422 */
export function originOf({ headers }: Request): { trace?: TraceContext; hops?: number } {
  const hops = hopsOf(headers);
  const parent = headers.get("traceparent");
  if (parent === null) return hops;
  const trace = readTraceContext(parent, headers.get("tracestate"));
  return trace === undefined ? hops : { ...hops, trace };
}

/**
 * The hop count of a run that a request starts, as a field of the run's input: how many runs there are before it in the chain of
 * requests. Teams that call each other in a circle end there, and not at the limits of their tenant.
 *
 * @param metadata the message's, in protocols with metadata. The larger count is used, because an HTTP tool may send a message, too.
 * @throws ProblemError 422
 */
export function hopsOf(
  headers: Headers,
  metadata?: { path: string; value: { readonly [key: string]: unknown } | undefined },
): { hops?: number } {
  const hops = Math.max(
    readHops(headers.get(HOPS_HEADER) ?? undefined, "Troupe-Hops"),
    readHops(metadata?.value?.[HOPS_MEMBER], `${metadata?.path}.${HOPS_MEMBER}`),
  );
  if (hops <= MAX_HOPS) return hops === 0 ? {} : { hops };
  throw new ProblemError({
    status: 422,
    code: "too_many_hops",
    detail: `The run would be number ${hops + 1} in a chain of runs that start each other; at most ${MAX_HOPS + 1} are allowed. Look for teams that call each other, or themselves, in a circle.`,
    extra: { hops, limit: MAX_HOPS },
  });
}

function readHops(input: unknown, path: string): number {
  if (input === undefined) return 0;
  const hops = typeof input === "string" && /^\d+$/.test(input) ? Number(input) : input;
  if (typeof hops === "number" && hops >= 0 && (Number.isInteger(hops) || hops === Infinity))
    // A count of hundreds of digits is infinite, for which JSON has no number.
    return Math.min(hops, Number.MAX_SAFE_INTEGER);
  const message = `must be a whole number of 0 or more, not ${beginningOf(JSON.stringify(input), 100)}`;
  throw invalid("invalid_hops", `${path} ${message}.`, [{ path, message }]);
}

/** Those of `/v1/teams/{team}/files/`. */
const SEGMENTS_BEFORE = 5;

/**
 * The path of a file in the URL of a request: each segment is decoded once, and none may change where the path leads. Which
 * names a workspace can have is the workspace's to say.
 *
 * @throws ProblemError 422
 */
function filePathOf(url: string): string {
  const segments = new URL(url).pathname.split("/").slice(SEGMENTS_BEFORE).map(decodeSegment);
  const problem = pathProblem(segments);
  if (problem === undefined) return segments.join("/");
  throw invalidPath(problem);
}

function pathProblem(segments: readonly string[]): string | undefined {
  if (segments.some((name) => name === "" || name === "." || name === ".."))
    return "must not have empty names, . or ..";
  if (segments.some((name) => name.includes("/") || name.includes("\\")))
    return "must separate names with plain slashes";
  return undefined;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidPath("must be UTF-8 in percent-encoding");
  }
}

function invalidPath(message: string): ProblemError {
  return invalid("invalid_path", `The path of the file is invalid: it ${message}.`, [
    { path: "path", message },
  ]);
}
