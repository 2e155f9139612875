import * as z from "zod";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { type HumanApproval, humanApproval, humanApprovalSchema } from "../run/human-approval.ts";
import { lenientParse } from "./checks/lenient-parse.ts";

/** A tool's config, split into the keys of its class and the approval keys that every tool has. */
export interface ToolConfig {
  config: JsonObject;
  approval: HumanApproval | null;
}

/** @throws ZodError, ValueError */
export function splitToolConfig(config: JsonObject): ToolConfig {
  const { approval, approval_timeout_seconds, ...rest } = config;
  const keys = lenientParse(humanApprovalSchema, { approval, approval_timeout_seconds });
  if (!keys.success) throw keys.error;
  const { data } = keys;
  return { config: rest, approval: humanApproval(data.approval, data.approval_timeout_seconds) };
}

/** Whether a config has an approval key that its class ignores: the call would be made without approval. */
export function ignoresApproval(given: JsonObject, read: unknown): boolean {
  return given["approval"] != null && !(isJsonObject(read) && read["approval"] != null);
}

/** The JSON Schema of a tool's config with those keys. */
export function withToolKeys(schema: JsonObject): JsonObject {
  const { properties, allOf } = schema;
  const { $schema: _, ...keys } = z.toJSONSchema(humanApprovalSchema, {
    io: "input",
  }) as JsonObject;
  if (Array.isArray(allOf)) return { ...schema, allOf: [...allOf, keys] };
  return { ...schema, properties: { ...asObject(properties), ...asObject(keys["properties"]) } };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
