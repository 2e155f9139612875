import * as z from "zod";
import type { Endpoint } from "./endpoint.ts";
import { keyPattern, schemas, sessionPattern } from "./schemas.ts";

type Json = Record<string, unknown>;

const REASONS: Record<number, string> = {
  400: "The body is not JSON in UTF-8.",
  401: "No key, or a wrong one.",
  403: "Without a key, the request does not come from this machine.",
  404: "There is no such file or execution.",
  409: "It conflicts with what is there; the code says how.",
  413: "The body or the workspace would be too large.",
  415: "The body is of another type or coded.",
  422: "Something in the request is not acceptable; errors says where.",
  429: "Too much at once; Retry-After says when to come back.",
  500: "Our own fault; it was logged.",
  503: "Not available at the moment.",
};

/** The OpenAPI 3.1 document of these endpoints. */
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

function parameters({ path, idempotent }: Endpoint): Json[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", ...(PATTERNS[name] && { pattern: PATTERNS[name].source }) },
  }));
  if (!idempotent) return inPath;
  const key = {
    name: "Idempotency-Key",
    in: "header",
    description:
      "The same key and body get the result that was recorded, or join what still runs. Without one, code is cancelled when its client goes.",
    schema: { type: "string", pattern: keyPattern.source },
  };
  return [...inPath, key];
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
