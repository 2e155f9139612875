import * as z from "zod";
import { JsonSchema } from "../core/json-schema/json-schema.ts";
import { errorMessage, ValueError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { openObjectSchema, timeSchema } from "./common.ts";
import { LONGEST_TOOL_DESCRIPTION, LONGEST_TOOL_SCHEMA } from "./constants.ts";
import { taskTemplateSchema } from "./task-template.ts";

/** A JSON Schema of an object, which can be used and is not too large. */
const objectSchemaSchema = openObjectSchema
  .superRefine((schema: JsonObject, context) => {
    const refuse = (message: string): void => context.addIssue({ code: "custom", message });
    if (schema["type"] !== "object") refuse('must be a JSON Schema with "type": "object"');
    if (JSON.stringify(schema).length > LONGEST_TOOL_SCHEMA) {
      return refuse(`must have at most ${LONGEST_TOOL_SCHEMA} characters of JSON`);
    }
    try {
      new JsonSchema(schema).check({});
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      refuse(`is not a JSON Schema that can be used: ${errorMessage(error)}`);
    }
  })
  .meta({ type: "object", additionalProperties: true });

/** A tool of MCP that runs a team with arguments of its own. */
export const putTeamToolSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -")
    .describe("The name of the tool, unique in the tenant. Names such as run_desk are Troupe's."),
  description: z
    .string()
    .min(1, "must not be empty")
    .max(LONGEST_TOOL_DESCRIPTION, `must have at most ${LONGEST_TOOL_DESCRIPTION} characters`)
    .describe("What it does, for the model that chooses among tools."),
  input_schema: objectSchemaSchema.describe("JSON Schema of its arguments."),
  output_schema: objectSchemaSchema
    .nullish()
    .describe("JSON Schema of the JSON that the team's last message has."),
  task: taskTemplateSchema.describe(
    "The task of a run, with arguments in the places of {{ city }}. What is missing is empty.",
  ),
});

export type PutTeamTool = z.output<typeof putTeamToolSchema>;

export const teamToolSchema = z.object({
  ...putTeamToolSchema.shape,
  output_schema: objectSchemaSchema.nullable(),
  updated_at: timeSchema,
});

export type TeamTool = z.output<typeof teamToolSchema>;
