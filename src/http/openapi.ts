import * as z from "zod";
import { structuredMessageSchema } from "../core/messages/chat-messages.ts";
import { requestUsageSchema } from "../core/models/llm-messages.ts";
import { jsonObjectSchema } from "../core/json-object.ts";
import { type Endpoint, json } from "./endpoint.ts";
import { createdKeySchema, keysSchema, tokenSchema, whoamiSchema } from "../contract/key.ts";
import { requestListSchema, runListSchema, teamListSchema } from "../contract/directory.ts";
import { usageReportSchema } from "../contract/usage/usage-report.ts";
import { tenantListSchema, tenantSchema } from "../contract/tenant.ts";
import {
  createdWebhookSchema,
  deliveryPageSchema,
  deliverySchema,
  webhookSchema,
  webhookSecretSchema,
  webhooksSchema,
  webhookTestSchema,
} from "../contract/webhooks/webhook.ts";
import { schedulePageSchema, scheduleSchema } from "../contract/schedule.ts";
import { streamFrameSchema, tenantFrameSchema } from "../contract/stream/stream-frame.ts";
import { runTraceSchema } from "../contract/trace.ts";
import { filePageSchema } from "../contract/workspace-files.ts";
import { problemSchema } from "../contract/problem.ts";
import { messageSchema, namedMessageSchemas } from "../contract/message.ts";
import { COLLECTED } from "./call.ts";
import { EVENT_STREAM } from "./sse.ts";
import type { SchemaName } from "./schema-names.ts";
import {
  humanRequestSchema,
  humanRequestsSchema,
  runPageSchema,
  runSchema,
} from "../contract/run.ts";
import {
  componentInputSchema,
  componentsSchema,
  messagePageSchema,
  stateSchema,
  teamSchema,
  templatesSchema,
  validSchema,
} from "../contract/team.ts";

type Schema = Record<string, unknown>;

const ANSWERS: Record<SchemaName, z.ZodType> = {
  Team: teamSchema,
  Run: runSchema,
  RunPage: runPageSchema,
  RunTrace: runTraceSchema,
  Schedule: scheduleSchema,
  SchedulePage: schedulePageSchema,
  MessagePage: messagePageSchema,
  HumanRequests: humanRequestsSchema,
  State: stateSchema,
  Templates: templatesSchema,
  Components: componentsSchema,
  Valid: validSchema,
  Health: z.object({ status: z.literal("ok") }),
  WhoAmI: whoamiSchema,
  Keys: keysSchema,
  CreatedKey: createdKeySchema,
  TeamToken: tokenSchema,
  Tenant: tenantSchema,
  TenantList: tenantListSchema,
  TeamList: teamListSchema,
  RunList: runListSchema,
  RequestList: requestListSchema,
  UsageReport: usageReportSchema,
  Webhook: webhookSchema,
  CreatedWebhook: createdWebhookSchema,
  Webhooks: webhooksSchema,
  WebhookSecret: webhookSecretSchema,
  WebhookDelivery: deliverySchema,
  WebhookDeliveryPage: deliveryPageSchema,
  WebhookTest: webhookTestSchema,
  FilePage: filePageSchema,
  StreamFrame: streamFrameSchema,
  TenantFrame: tenantFrameSchema,
  OpenApi: z.looseObject({ openapi: z.string() }),
  Problem: problemSchema,
};

const TAGS: readonly Endpoint["tag"][] = [
  "Teams",
  "Runs",
  "Files",
  "Schedules",
  "Webhooks",
  "Keys",
  "Usage",
  "Tenants",
  "OpenAI",
  "AG-UI",
  "AI SDK",
  "A2A",
  "MCP",
  "Service",
];

const SCOPE_TEXTS: Record<string, string> = {
  any: "Any valid credential.",
  each: "The scope of what the message asks for.",
  operator: "The operator's key.",
};

/** Every operation can answer these: any may be asked with an unknown query parameter. */
const ALWAYS = [422, 500];
/** Every operation with a credential can answer these. */
const WITH_CREDENTIAL = [401, 403, 429, 503];

const REASONS: Record<number, string> = {
  400: "The body is not JSON in UTF-8, or nested too deeply.",
  401: "No key, or a wrong one.",
  403: "The key lacks the scope, or the request comes from a foreign site.",
  404: "There is no such team, run, request or schedule.",
  409: "It conflicts with what exists or runs; the code says how.",
  413: "The body is too large.",
  415: "The body is not application/json.",
  422: "Something in the request is invalid; errors names the place.",
  429: "Too many requests; Retry-After says when to come back.",
  500: "Our own fault; it was logged.",
  502: "The sandbox, which has to be asked, cannot be reached.",
  503: "Not available at the moment, or not configured.",
};

/** A parameter of a path: its name, and the pattern of one that is no id. */
const PARAMETER = /:(\w+)(\{.*?\})?/g;
/** The pattern of a parameter that is the rest of the path. */
const REST = "{[^]+}";

/** The operation that describes the others and itself. */
export function openApiEndpoint(others: readonly Endpoint[], version: string): Endpoint {
  let document: unknown;
  const self: Endpoint = {
    method: "get",
    path: "/v1/openapi.json",
    id: "openApi",
    summary: "This description",
    tag: "Service",
    scope: "teams:read",
    answers: { 200: { description: "OpenAPI 3.1.", schema: "OpenApi" } },
    async handle() {
      document ??= openApiDocument([...others, self], version);
      return json(document);
    },
  };
  return self;
}

/** The OpenAPI 3.1 document of these endpoints. */
function openApiDocument(endpoints: readonly Endpoint[], version: string): Schema {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(PARAMETER, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Troupe",
      version,
      description:
        "Teams of AI agents at the edge. An accepted run always reaches exactly one outcome. Bodies are JSON in snake_case; unknown fields are refused.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    tags: TAGS.map((name) => ({
      name,
    })),
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      responses: Object.fromEntries(
        Object.entries(REASONS).map(([status, description]) => [
          `Problem${status}`,
          { description, content: { "application/problem+json": { schema: ref("Problem") } } },
        ]),
      ),
    },
  };
}

const READ = {
  file: { "application/octet-stream": { schema: { type: "string" } } },
  message: { "application/json": { schema: { type: "object", additionalProperties: true } } },
};

function operation(endpoint: Endpoint): Schema {
  const { id, summary, tag, scope, body, bodyOptional, reads } = endpoint;
  return {
    operationId: id,
    summary,
    tags: [tag],
    ...(scope === null
      ? { security: [] }
      : { description: SCOPE_TEXTS[scope] ?? `Scope: ${scope}.` }),
    parameters: parameters(endpoint),
    ...(reads && { requestBody: { required: true, content: READ[reads] } }),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: { "application/json": { schema: inputSchema(body) } },
      },
    }),
    responses: { ...problems(endpoint), ...answers(endpoint) },
  };
}

function parameters({ path, query, idempotent, resumable }: Endpoint): Schema[] {
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
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = inputSchema(schema);
    if (name === COLLECTED) {
      return { name: `${name}.KEY`, in: "query", description, schema: { type: "string" } };
    }
    return { name, in: "query", ...(description !== undefined && { description }), schema: rest };
  });
  const headers = [
    ...(idempotent
      ? [
          header("Idempotency-Key", "The same key and body answer the same thing.", {
            type: "string",
            maxLength: 255,
          }),
        ]
      : []),
    ...(resumable
      ? [header("Last-Event-ID", "Like after, which it beats.", { type: "integer", minimum: 0 })]
      : []),
  ];
  return [...inPath, ...inQuery, ...headers];
}

function header(name: string, description: string, schema: Schema): Schema {
  return { name, in: "header", description, schema };
}

function answers({ answers: specified }: Endpoint): Schema {
  return Object.fromEntries(
    Object.entries(specified).map(([status, { description, schema, media, frames, location }]) => {
      const content = {
        ...(schema !== undefined && { "application/json": { schema: ref(schema) } }),
        ...(media !== undefined && foreign(media)),
        // As `itemSchema` in OpenAPI 3.2.
        ...(frames !== undefined && {
          [EVENT_STREAM]: { schema: { type: "string" }, "x-item-schema": ref(frames) },
        }),
      };
      return [
        status,
        {
          description,
          ...(Object.keys(content).length > 0 && { content }),
          ...(location && {
            headers: { Location: { schema: { type: "string", format: "uri-reference" } } },
          }),
        },
      ];
    }),
  );
}

/** A body that another protocol describes. */
function foreign(media: string): Schema {
  return { [media]: { schema: { type: media === "application/json" ? "object" : "string" } } };
}

function problems(endpoint: Endpoint): Schema {
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
          ? { $ref: `#/components/responses/Problem${status}` }
          : {
              description: REASONS[status],
              content: foreign(refusal.media),
            },
      ]),
  );
}

function componentSchemas(): Record<string, Schema> {
  const named = z.registry<{ id: string }>();
  named.add(componentInputSchema, { id: "Component" });
  named.add(jsonObjectSchema, { id: "JsonObject" });
  named.add(requestUsageSchema, { id: "Usage" });
  named.add(humanRequestSchema, { id: "HumanRequest" });
  named.add(messageSchema, { id: "Message" });
  named.add(structuredMessageSchema, { id: "StructuredMessage" });
  for (const { name, schema } of namedMessageSchemas) named.add(schema, { id: name });
  for (const [id, schema] of Object.entries(ANSWERS)) named.add(schema, { id });
  const { schemas } = z.toJSONSchema(named, {
    uri: (id) => `#/components/schemas/${id}`,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === (jsonObjectSchema as z.core.$ZodType)) replace(jsonSchema, OPEN_OBJECT);
      // Later versions may add fields; clients must not refuse them.
      else if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => name !== "__shared")
      .map(([name, schema]) => [name, without(schema, "$schema", "$id")]),
  );
}

const OPEN_OBJECT = { type: "object", additionalProperties: true };

/** JSON inside JSON is a recursive schema to zod and nothing to say to a reader. */
function replace(target: object, source: object): void {
  for (const key of Object.keys(target)) delete (target as Schema)[key];
  Object.assign(target, source);
}

function inputSchema(schema: z.ZodType): Schema {
  const options = { io: "input", unrepresentable: "any" } as const;
  return without(z.toJSONSchema(schema, options), "$schema");
}

function without(schema: object, ...keys: readonly string[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
