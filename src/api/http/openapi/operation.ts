import type { Endpoint } from "../endpoint/endpoint.ts";
import { COLLECTED } from "../input/call.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import {
  type Described,
  inputSchema,
  PARAMETER,
  problemRef,
  queryParameters,
  ref,
} from "../../../http/openapi.ts";
import { nameOf } from "./schemas.ts";

const SCOPE_TEXTS: Record<string, string> = {
  any: "Any valid credential.",
  each: "The scope of what the message asks for.",
  operator: "The operator's key.",
  questions: "Scope: runs:read or requests:write.",
};

/** Every operation can answer these: any may be asked with an unknown query parameter. */
const ALWAYS = [422, 500];
/** Every operation with a credential can answer these. */
const WITH_CREDENTIAL = [401, 403, 429, 503];

/** Why a problem has its status. */
export const REASONS: Record<number, string> = {
  400: "The body is not JSON in UTF-8, or nested too deeply.",
  401: "No key, or a wrong one.",
  403: "The key lacks the scope, or the request comes from a foreign site.",
  404: "There is no such team, run, request or schedule.",
  409: "It conflicts with what exists or runs; the code says how.",
  410: "The resource no longer exists.",
  412: "If-Match names another version than the current one.",
  413: "The body is too large.",
  415: "The body is not application/json.",
  422: "Something in the request is invalid; errors names the place.",
  429: "Too many requests; Retry-After says when to come back.",
  500: "Unexpected server error. It was logged with the request's id.",
  502: "The sandbox, which has to be asked, cannot be reached.",
  507: "The team may not store more: its limit is reached.",
  503: "Not available at the moment, or not configured.",
};

/** The pattern of a parameter that is the rest of the path. */
const REST = "{[^]+}";

const READ = {
  file: { "application/octet-stream": { schema: { type: "string" } } },
  form: {
    "application/x-www-form-urlencoded": {
      schema: { type: "object", additionalProperties: { type: "string" } },
    },
  },
  upload: {
    "multipart/form-data": {
      schema: {
        type: "object",
        properties: { file: { type: "string", format: "binary" } },
        additionalProperties: { type: "string" },
      },
    },
  },
  message: { "application/json": { schema: { type: "object", additionalProperties: true } } },
};

/** The description of one operation. */
export function operation(endpoint: Endpoint): Described {
  const { id, summary, tag, scope, body, bodyOptional, reads, json } = endpoint;
  return {
    operationId: id,
    summary,
    tags: [tag],
    ...(scope === null
      ? { security: [] }
      : { description: SCOPE_TEXTS[scope] ?? `Scope: ${scope}.` }),
    parameters: parameters(endpoint),
    ...(reads && {
      requestBody: {
        required: true,
        content: {
          ...READ[reads],
          ...(json && { "application/json": { schema: inputSchema(json) } }),
        },
      },
    }),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: { "application/json": { schema: inputSchema(body) } },
      },
    }),
    responses: { ...problems(endpoint), ...answers(endpoint) },
  };
}

function parameters({ path, query, idempotent, conditional, resumable }: Endpoint): Described[] {
  const inPath = [...path.matchAll(PARAMETER)].map(([, name, pattern]) => ({
    name,
    in: "path",
    required: true,
    ...(pattern === undefined
      ? { schema: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" } }
      : {
          ...(pattern === REST && { description: "May have slashes." }),
          schema: { type: "string", minLength: 1 },
        }),
  }));
  const inQuery = queryParameters(query).map((parameter) =>
    parameter["name"] === COLLECTED
      ? { ...parameter, name: `${COLLECTED}.KEY`, schema: { type: "string" } }
      : parameter,
  );
  const headers = [
    ...(idempotent
      ? [
          header("Idempotency-Key", "The same key and body answer the same thing.", {
            type: "string",
            maxLength: 255,
          }),
        ]
      : []),
    ...(conditional
      ? [header("If-Match", "The ETag of what is replaced, or *.", { type: "string" })]
      : []),
    ...(resumable
      ? [header("Last-Event-ID", "Like after, which it beats.", { type: "integer", minimum: 0 })]
      : []),
  ];
  return [...inPath, ...inQuery, ...headers];
}

function header(name: string, description: string, schema: Described): Described {
  return { name, in: "header", description, schema };
}

function answers({ answers: specified }: Endpoint): Described {
  return Object.fromEntries(
    Object.entries(specified).map(
      ([status, { description, schema, media, frames, location, etag }]) => {
        const content = {
          ...(schema !== undefined && { "application/json": { schema: ref(nameOf(schema)) } }),
          ...(media !== undefined && foreign(media)),
          // As `itemSchema` in OpenAPI 3.2.
          ...(frames !== undefined && {
            [EVENT_STREAM]: { schema: { type: "string" }, "x-item-schema": ref(frames) },
          }),
        };
        const headers = {
          ...(location && { Location: { schema: { type: "string", format: "uri-reference" } } }),
          ...(etag && { ETag: { schema: { type: "string" } } }),
        };
        return [
          status,
          {
            description,
            ...(Object.keys(content).length > 0 && { content }),
            ...(Object.keys(headers).length > 0 && { headers }),
          },
        ];
      },
    ),
  );
}

/** A body that another protocol describes. */
function foreign(media: string): Described {
  return { [media]: { schema: { type: media === "application/json" ? "object" : "string" } } };
}

function problems(endpoint: Endpoint): Described {
  const { path, scope, body, reads, problems: own = [], refusal } = endpoint;
  const statuses = new Set([
    ...own,
    ...ALWAYS,
    ...(scope === null ? [] : WITH_CREDENTIAL),
    ...(path.includes(":") ? [404] : []),
    ...(body !== undefined || reads === "message" ? [400, 413, 415] : []),
  ]);
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => [
        status,
        refusal === undefined
          ? problemRef(status)
          : {
              description: REASONS[status],
              content: foreign(refusal.media),
            },
      ]),
  );
}
