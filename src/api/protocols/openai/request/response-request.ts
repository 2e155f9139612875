import * as z from "zod";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import type { ToolSchema } from "../../../../core/models/chat-completion-client.ts";
import { type InputEntry, withoutEmptyAnswers } from "./entry.ts";
import {
  chosenTools,
  jsonOutputOf,
  responseFormatSchema,
  toolChoiceSchema,
  type WantedForm,
} from "./answer-form.ts";
import { identityOf, ignoredIn, namesOf } from "./ignored.ts";
import { entryOf, inputSchema, itemsOf, withoutCompaction } from "./response-items.ts";
import { askedFor, commonShape, parseRequest, refusedAt, refuseUnsupported } from "./parse.ts";
import { responseToolSchema, toolSchemas } from "./tools.ts";

export const responseSchema = z.object({
  ...commonShape,
  input: inputSchema.optional(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  background: z.boolean().nullish(),
  store: z.boolean().nullish(),
  tools: z.array(responseToolSchema).nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  text: z.object({ format: responseFormatSchema.nullish() }).nullish(),
});

const UNSUPPORTED = {
  top_logprobs: [0],
  prompt: [],
  max_tool_calls: [],
  moderation: [],
} as const;

/** `store` has an effect on some models only. */
const KNOWN = new Set([
  ...Object.keys(responseSchema.shape).filter((name) => name !== "store"),
  ...Object.keys(UNSUPPORTED),
  "text.format",
]);

export interface ResponseRequest extends Omit<
  z.output<typeof responseSchema>,
  "input" | "tools" | "conversation"
> {
  entries: InputEntry[];
  tools: ToolSchema[];
  form: WantedForm;
  /** Names of parameters that have no effect. */
  ignored: string[];
  /** True if the response is kept after its end. */
  kept: boolean;
  /** The request's fields that the response repeats. */
  given: JsonObject;
  conversation: string | undefined;
  /** See {@link identityOf}. */
  identity: string;
}

/** @throws ProblemError 400 or 422 */
export function parseResponseRequest(value: unknown): ResponseRequest {
  const { input, tools, conversation, ...body } = parseRequest(responseSchema, value);
  refuseUnsupported(value as JsonObject, UNSUPPORTED);
  if (conversation != null && body.previous_response_id != null) {
    throw refusedAt("previous_response_id", "cannot be combined with conversation");
  }
  const { items, after } = withoutCompaction(itemsOf(input));
  if (after !== undefined && conversation == null) body.previous_response_id ??= after;
  const echoed = givenIn(value as JsonObject, tools ?? []);
  // A team that is made for the response is erased after it.
  const kept = body.store !== false || !body.model.startsWith("template:");
  const ignored = ignoredIn(value as JsonObject, KNOWN, { store: [true] });
  const schemas = toolSchemas(tools ?? []);
  const { tools: chosen, ...choice } = chosenTools(body.tool_choice, schemas);
  const jsonOutput = jsonOutputOf(body.text?.format);
  const entries = withoutEmptyAnswers(items.map((item, index) => entryOf(item, `input[${index}]`)));
  const team = typeof conversation === "string" ? conversation : (conversation?.id ?? undefined);
  const { stream: _, store: _1, text: _2, ...asked } = askedFor(body);
  const names = namesOf(ignored);
  return {
    ...body,
    entries,
    tools: chosen,
    kept,
    ignored: kept ? names : names.filter((name) => name !== "store"),
    given: kept ? echoed : { ...echoed, store: false },
    form: { ...choice, ...(jsonOutput !== undefined && { jsonOutput }) },
    conversation: team,
    identity: identityOf(
      {
        ...asked,
        entries,
        tools: schemas,
        jsonOutput,
        conversation: team,
        instructions: body.instructions || null,
        previous_response_id: body.previous_response_id || null,
        background: body.background === true,
      },
      ignored,
    ),
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
