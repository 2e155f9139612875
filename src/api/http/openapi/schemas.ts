import * as z from "zod";
import { tokenUsageSchema } from "../../../contract/usage/usage-schemas.ts";
import { structuredMessageSchema } from "../../../core/messages/chat-messages.ts";
import { jsonObjectSchema } from "../../../core/json-object.ts";
import { makerDataSchema } from "../../../core/models/llm-messages.ts";
import { streamFrameSchema, tenantFrameSchema } from "../../../contract/stream/stream-frame.ts";
import { problemSchema } from "../../../contract/problem.ts";
import { messageSchema, namedMessageSchemas } from "../../../contract/message.ts";
import type { ResponseSpec } from "../../../contract/commands/command.ts";
import type { Described } from "../../../http/openapi.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { humanRequestSchema } from "../../../contract/run.ts";
import { componentInputSchema } from "../../../contract/team.ts";

/** The schemas that the document names. */
export function componentSchemas(endpoints: readonly Endpoint[]): Record<string, Described> {
  const named = z.registry<{ id: string }>();
  named.add(componentInputSchema, { id: "Component" });
  named.add(jsonObjectSchema, { id: "JsonObject" });
  named.add(makerDataSchema.shape.data, { id: "Json" });
  named.add(tokenUsageSchema, { id: "Usage" });
  named.add(humanRequestSchema, { id: "HumanRequest" });
  named.add(messageSchema, { id: "Message" });
  named.add(structuredMessageSchema, { id: "StructuredMessage" });
  for (const { name, schema } of namedMessageSchemas) named.add(schema, { id: name });
  named.add(streamFrameSchema, { id: "StreamFrame" });
  named.add(tenantFrameSchema, { id: "TenantFrame" });
  named.add(problemSchema, { id: "Problem" });
  for (const [id, schema] of answersOf(endpoints)) named.add(schema, { id });
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

/** The schemas of JSON answers by name. @throws TypeError if two have one name */
function answersOf(endpoints: readonly Endpoint[]): Map<string, z.ZodType> {
  const found = new Map<string, z.ZodType>();
  const given = endpoints
    .flatMap(({ answers }) => Object.values(answers))
    .flatMap(({ schema }) => Object.entries(schema ?? {}));
  for (const [name, schema] of given) {
    if ((found.get(name) ?? schema) !== schema)
      throw new TypeError(`two schemas are named ${name}`);
    found.set(name, schema);
  }
  return found;
}

/** The name of the schema of an answer. */
export function nameOf(schema: NonNullable<ResponseSpec["schema"]>): string {
  return Object.keys(schema).join();
}

const OPEN_OBJECT = { type: "object", additionalProperties: true };

/** JSON inside JSON is a recursive schema to zod and nothing to say to a reader. */
function replace(target: object, source: object): void {
  for (const key of Object.keys(target)) delete (target as Described)[key];
  Object.assign(target, source);
}

function without(schema: object, ...keys: readonly string[]): Described {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}
