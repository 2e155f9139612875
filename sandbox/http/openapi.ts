import * as z from "zod";
import {
  type Described,
  documentOf,
  inputSchema,
  PARAMETER,
  problemRef,
  queryParameters,
  ref,
} from "../../src/http/openapi.ts";
import type { Endpoint } from "./endpoint.ts";
import { keyPattern, schemas, sessionPattern } from "./schemas.ts";

const REASONS: Record<number, string> = {
  400: "The body is not valid JSON in UTF-8.",
  401: "The key is missing or wrong.",
  403: "The sandbox has no key, and the request is not local.",
  404: "The file or execution does not exist.",
  409: "The request conflicts with the session; see code.",
  413: "The body is too large, or the workspace would be.",
  415: "The body has another media type or a content coding.",
  422: "The request is invalid; see errors.",
  429: "Too many requests or sessions; try again after Retry-After.",
  500: "An internal error, which was logged.",
  503: "Temporarily unavailable.",
};

/** The OpenAPI document of the endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string): Described {
  return documentOf({
    title: "Troupe sandbox",
    description: "Runs code in sessions that keep their files.",
    version,
    endpoints,
    operation,
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, outputSchema(schema)]),
    ),
    reasons: REASONS,
  });
}

function operation(endpoint: Endpoint): Described {
  const { id, summary, open, body, answers } = endpoint;
  return {
    operationId: id,
    summary,
    ...(open && { security: [] }),
    parameters: parameters(endpoint),
    ...(body && { requestBody: { required: true, content: bodyContent(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, { description, schema, media }]) => [
          status,
          {
            description,
            content: {
              ...(schema && {
                "application/json": { schema: ref(schema) },
              }),
              ...(media && { [media]: { schema: { type: "string" } } }),
            },
          },
        ]),
      ),
      ...problems(endpoint),
    },
  };
}

function bodyContent(body: z.ZodType | "bytes"): Described {
  if (body === "bytes") return { "application/octet-stream": { schema: { type: "string" } } };
  return { "application/json": { schema: inputSchema(body) } };
}

const PATTERNS: Record<string, RegExp> = { session: sessionPattern, key: keyPattern };

function parameters({ path, query, idempotent }: Endpoint): Described[] {
  const inPath = [...path.matchAll(PARAMETER)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", ...(PATTERNS[name] && { pattern: PATTERNS[name].source }) },
  }));
  if (!idempotent) return [...inPath, ...queryParameters(query)];
  const key = {
    name: "Idempotency-Key",
    in: "header",
    description:
      "The same key and body return the recorded result, or join the running execution. Code without a key is cancelled when its client disconnects.",
    schema: { type: "string", pattern: keyPattern.source },
  };
  return [...inPath, ...queryParameters(query), key];
}

function problems({ open, body, problems: own = [] }: Endpoint): Described {
  const json = body !== undefined && body !== "bytes";
  const statuses = new Set([
    ...own,
    500,
    ...(open ? [] : [401, 403, 503]),
    ...(json ? [400, 413, 415, 422] : []),
  ]);
  return Object.fromEntries([...statuses].map((status) => [status, problemRef(status)]));
}

function outputSchema(schema: z.ZodType): Described {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "output" });
  return rest;
}
