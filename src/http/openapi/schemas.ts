import * as z from "zod";
import { tokenUsageSchema } from "../../contract/usage/usage-schemas.ts";
import { structuredMessageSchema } from "../../core/messages/chat-messages.ts";
import { jsonObjectSchema } from "../../core/json-object.ts";
import { makerDataSchema } from "../../core/models/llm-messages.ts";
import { createdKeySchema, keysSchema, tokenSchema, whoamiSchema } from "../../contract/key.ts";
import { requestListSchema, runListSchema, teamListSchema } from "../../contract/directory.ts";
import { usageReportSchema } from "../../contract/usage/usage-report.ts";
import { tenantListSchema, tenantSchema } from "../../contract/tenant.ts";
import {
  createdWebhookSchema,
  deliveryPageSchema,
  deliverySchema,
  webhookSchema,
  webhookSecretSchema,
  webhooksSchema,
  webhookTestSchema,
} from "../../contract/webhooks/webhook.ts";
import { schedulePageSchema, scheduleSchema } from "../../contract/schedule.ts";
import { streamFrameSchema, tenantFrameSchema } from "../../contract/stream/stream-frame.ts";
import { runTraceSchema } from "../../contract/trace.ts";
import { stagedStateSchema } from "../../contract/state-parts.ts";
import { filePageSchema } from "../../contract/workspace-files.ts";
import { problemSchema } from "../../contract/problem.ts";
import { messageSchema, namedMessageSchemas } from "../../contract/message.ts";
import type { SchemaName } from "../schema-names.ts";
import {
  humanRequestSchema,
  humanRequestsSchema,
  runPageSchema,
  runSchema,
} from "../../contract/run.ts";
import {
  componentInputSchema,
  componentsSchema,
  messagePageSchema,
  stateSchema,
  teamSchema,
  templatesSchema,
  validSchema,
} from "../../contract/team.ts";

/** A JSON Schema, or another object of the document. */
export type Described = Record<string, unknown>;

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
  StagedState: stagedStateSchema,
  StreamFrame: streamFrameSchema,
  TenantFrame: tenantFrameSchema,
  OpenApi: z.looseObject({ openapi: z.string() }),
  Problem: problemSchema,
};

/** The schemas that the document names. */
export function componentSchemas(): Record<string, Described> {
  const named = z.registry<{ id: string }>();
  named.add(componentInputSchema, { id: "Component" });
  named.add(jsonObjectSchema, { id: "JsonObject" });
  named.add(makerDataSchema.shape.data, { id: "Json" });
  named.add(tokenUsageSchema, { id: "Usage" });
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
  for (const key of Object.keys(target)) delete (target as Described)[key];
  Object.assign(target, source);
}

/** Of what a client sends. */
export function inputSchema(schema: z.ZodType): Described {
  const options = { io: "input", unrepresentable: "any" } as const;
  return without(z.toJSONSchema(schema, options), "$schema");
}

function without(schema: object, ...keys: readonly string[]): Described {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

export function ref(name: string): Described {
  return { $ref: `#/components/schemas/${name}` };
}
