import * as z from "zod";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { contentOf, textOf } from "./content.ts";
import type { Entry } from "./entry.ts";
import {
  chosenTools,
  jsonOutputOf,
  responseFormatSchema,
  toolChoiceSchema,
  type WantedForm,
} from "./answer-form.ts";
import { ignoredIn } from "./ignored.ts";
import { commonShape, parseRequest, refusedAt, refuseUnsupported } from "./parse.ts";
import { responseToolSchema, toolSchemas } from "./tools.ts";

const contentSchema = z.union(
  [z.string(), z.array(z.looseObject({ type: z.string() }))],
  "must be a text or a list of parts",
);

/** Items by their `type`; one without is a message. */
const itemSchema = z.union([
  z.object({
    type: z.literal("message").default("message"),
    role: z.enum(
      ["user", "assistant", "system", "developer"],
      "must be user, assistant, system or developer",
    ),
    content: contentSchema,
  }),
  z.object({
    type: z.literal("function_call"),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal("function_call_output"),
    call_id: z.string(),
    output: contentSchema,
  }),
  z.object({
    type: z.literal("mcp_approval_response"),
    approval_request_id: z.string(),
    approve: z.boolean(),
    reason: z.string().nullish(),
  }),
  // What an earlier response had. The team's log has it.
  z.object({
    type: z.enum(["reasoning", "mcp_call", "mcp_approval_request", "item_reference"]),
  }),
]);

const responseSchema = z.object({
  ...commonShape,
  input: z.union([z.string(), z.array(itemSchema)], "must be a text or a list of items").optional(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  background: z.boolean().nullish(),
  tools: z.array(responseToolSchema).nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  text: z.object({ format: responseFormatSchema.nullish() }).nullish(),
});

const UNSUPPORTED = {
  top_logprobs: [0],
  prompt: [],
  max_tool_calls: [],
} as const;

export interface ResponseRequest extends Omit<
  z.output<typeof responseSchema>,
  "input" | "tools" | "conversation"
> {
  entries: Entry[];
  tools: ToolSchema[];
  form: WantedForm;
  /** Names of parameters that have no effect. */
  ignored: string[];
  /** What the response repeats. */
  given: JsonObject;
  conversation: string | undefined;
}

/** @throws ProblemError 400 or 422 */
export function parseResponseRequest(value: unknown): ResponseRequest {
  const { input = [], tools, conversation, ...body } = parseRequest(responseSchema, value);
  refuseUnsupported(value as JsonObject, UNSUPPORTED);
  if (conversation != null && body.previous_response_id != null) {
    throw refusedAt("previous_response_id", "cannot be combined with conversation");
  }
  const items =
    typeof input === "string"
      ? [{ type: "message" as const, role: "user" as const, content: input }]
      : input;
  const { tools: chosen, ...choice } = chosenTools(body.tool_choice, toolSchemas(tools ?? []));
  const jsonOutput = jsonOutputOf(body.text?.format);
  return {
    ...body,
    entries: items.map((item, index) => entryOf(item, `input[${index}]`)),
    tools: chosen,
    ignored: ignoredIn(value as JsonObject, { store: [true], include: [] }),
    given: givenIn(value as JsonObject, tools ?? []),
    form: { ...choice, ...(jsonOutput !== undefined && { jsonOutput }) },
    conversation: typeof conversation === "string" ? conversation : (conversation?.id ?? undefined),
  };
}

function givenIn(
  { text, tool_choice }: JsonObject,
  tools: readonly z.output<typeof responseToolSchema>[],
): JsonObject {
  const format = isJsonObject(text) ? text.format : undefined;
  return {
    ...(format != null && { text: { format } }),
    ...(tool_choice != null && { tool_choice }),
    tools: tools.map(({ type, name, description, parameters, strict }) => ({
      type,
      name,
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? null,
    })),
  };
}

function entryOf(item: z.output<typeof itemSchema>, path: string): Entry {
  switch (item.type) {
    case "message": {
      const { role, content } = item;
      const place = `${path}.content`;
      if (role === "user") {
        return { type: "message", source: role, content: contentOf(content, place), answer: false };
      }
      const answer = role === "assistant";
      const source = answer ? role : "system";
      return { type: "message", source, content: textOf(content, place), answer };
    }
    case "function_call": {
      const { call_id: id, name, arguments: given } = item;
      return { type: "calls", calls: [{ id, name, arguments: given }] };
    }
    case "function_call_output":
      return {
        type: "output",
        id: item.call_id,
        content: textOf(item.output, `${path}.output`),
      };
    case "mcp_approval_response":
      return {
        type: "approval",
        id: item.approval_request_id,
        approved: item.approve,
        reason: item.reason ?? undefined,
      };
    default:
      return { type: "other_answer" };
  }
}
