import * as z from "zod";
import type { JsonObject } from "../json.ts";

/**
 * The JSON Schema of what a zod object accepts, in the shape models know from AutoGen: no other keys unless it is a
 * loose object, `required` always there.
 */
export function jsonSchemaOf(source: z.ZodObject): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(source, {
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === "object" && jsonSchema.properties !== undefined) {
        jsonSchema.required ??= [];
        jsonSchema.additionalProperties ??= false;
      }
      // zod's way to say "integer", which the type says already.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema as JsonObject;
}
