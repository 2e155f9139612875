import * as z from "zod";
import type { Endpoint } from "./endpoint.ts";
import { keyPattern, schemas, sessionPattern } from "./schemas.ts";

type Json = Record<string, unknown>;

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

/** Generates the OpenAPI 3.1 document of the endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)(\{[^}]*\})?/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Troupe sandbox",
      version,
      description: "Runs code in sessions that keep their files.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, jsonSchema(schema, "output")]),
      ),
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      responses: Object.fromEntries(
        Object.entries(REASONS).map(([status, description]) => [
          `Problem${status}`,
          {
            description,
            content: {
              "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
            },
          },
        ]),
      ),
    },
  };
}

function operation(endpoint: Endpoint): Json {
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
                "application/json": { schema: { $ref: `#/components/schemas/${schema}` } },
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

function bodyContent(body: z.ZodType | "bytes"): Json {
  if (body === "bytes") return { "application/octet-stream": { schema: { type: "string" } } };
  return { "application/json": { schema: jsonSchema(body, "input") } };
}

const PATTERNS: Record<string, RegExp> = { session: sessionPattern, key: keyPattern };

function parameters({ path, query, idempotent }: Endpoint): Json[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", ...(PATTERNS[name] && { pattern: PATTERNS[name].source }) },
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = jsonSchema(schema as z.ZodType, "input");
    return { name, in: "query", description, schema: rest };
  });
  if (!idempotent) return [...inPath, ...inQuery];
  const key = {
    name: "Idempotency-Key",
    in: "header",
    description:
      "The same key and body return the recorded result, or join the running execution. Code without a key is cancelled when its client disconnects.",
    schema: { type: "string", pattern: keyPattern.source },
  };
  return [...inPath, ...inQuery, key];
}

function problems({ open, body, problems: own = [] }: Endpoint): Json {
  const json = body !== undefined && body !== "bytes";
  const statuses = new Set([
    ...own,
    500,
    ...(open ? [] : [401, 403, 503]),
    ...(json ? [400, 413, 415, 422] : []),
  ]);
  return Object.fromEntries(
    [...statuses].map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
  );
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
