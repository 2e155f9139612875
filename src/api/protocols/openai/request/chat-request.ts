import * as z from "zod";
import type { JsonObject } from "../../../../core/json.ts";
import type { ToolSchema } from "../../../../core/models/chat-completion-client.ts";
import { contentOf, outputOf, textOf } from "./content.ts";
import { type InputEntry, withoutEmptyAnswers } from "./entry.ts";
import {
  chatFormatSchema,
  chosenTools,
  jsonOutputOf,
  toolChoiceSchema,
  type WantedForm,
} from "./answer-form.ts";
import { identityOf, ignoredIn, namesOf } from "./ignored.ts";
import { askedFor, commonShape, parseRequest, refusedAt, refuseUnsupported } from "./parse.ts";
import { entryOf, inputSchema, itemsOf, withoutCompaction } from "./response-items.ts";
import { asChatTool, chatToolSchema, toolSchemas } from "./tools.ts";

const contentSchema = z.union(
  [z.string(), z.array(z.looseObject({ type: z.string() }))],
  "must be a text or a list of parts",
);

const messageSchema = z.object({
  role: z.enum(
    ["system", "developer", "user", "assistant", "tool"],
    "must be system, developer, user, assistant or tool",
  ),
  content: contentSchema.nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({
        id: z.string(),
        function: z.object({ name: z.string(), arguments: z.string() }).optional(),
      }),
    )
    .nullish(),
});

/** The most texts of `stop`, and the most characters of each. */
const MOST_STOPS = 4;
const LONGEST_STOP = 1_000;
const STOP_RULE = `must be a text, or at most ${MOST_STOPS} texts, of 1 to ${LONGEST_STOP} characters`;

const stopText = z.string().min(1).max(LONGEST_STOP);
const stopSchema = z.union(
  [stopText.transform((text) => [text]), z.array(stopText).max(MOST_STOPS)],
  STOP_RULE,
);

const chatSchema = z.object({
  ...commonShape,
  messages: z.array(messageSchema).min(1, "must not be empty").optional(),
  /** Editors send the fields of a response to the address of chat completions. */
  input: inputSchema.optional(),
  instructions: z.string().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(z.preprocess(asChatTool, chatToolSchema)).nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  response_format: chatFormatSchema.nullish(),
  stop: stopSchema.nullish(),
});

/** Values of parameters that ask for nothing special. */
const UNSUPPORTED = {
  n: [1],
  logprobs: [false],
  top_logprobs: [0],
  audio: [],
  prediction: [],
  web_search_options: [],
  functions: [],
  function_call: [],
  moderation: [],
} as const;

const KNOWN = new Set([
  ...Object.keys(chatSchema.shape),
  ...Object.keys(UNSUPPORTED),
  "modalities",
  "stream_options.include_usage",
]);

export interface ChatRequest extends Omit<
  z.output<typeof chatSchema>,
  "messages" | "input" | "instructions" | "tools" | "stop"
> {
  entries: InputEntry[];
  /** The field that has them. */
  field: "messages" | "input";
  tools: ToolSchema[];
  /** Texts before which the answer ends. */
  stop: string[];
  form: WantedForm;
  /** Names of parameters that have no effect. */
  ignored: string[];
  /** See {@link identityOf}. */
  identity: string;
}

/** @throws ProblemError 400 or 422 */
export function parseChatRequest(value: unknown): ChatRequest {
  const { messages, input, instructions, tools, ...body } = parseRequest(chatSchema, value);
  if (messages === undefined && input === undefined) throw refusedAt("messages", "is missing");
  refuseUnsupported(value as JsonObject, UNSUPPORTED);
  const { modalities } = value as JsonObject;
  if (Array.isArray(modalities) && modalities.some((one) => one !== "text")) {
    throw refusedAt("modalities", 'must be ["text"]');
  }
  const schemas = toolSchemas((tools ?? []).map((tool) => tool.function));
  const { tools: chosen, ...choice } = chosenTools(body.tool_choice, schemas);
  const jsonOutput = jsonOutputOf(body.response_format);
  const stop = body.stop ?? [];
  const entries = withoutEmptyAnswers(
    messages?.flatMap((message, index) => entriesOf(message, `messages[${index}]`)) ??
      inputEntries(input, instructions),
  );
  const ignored = ignoredIn(value as JsonObject, KNOWN, { store: [false] });
  const { stream: _, stream_options: _1, response_format: _2, ...asked } = askedFor(body);
  return {
    ...body,
    entries,
    field: messages === undefined ? "input" : "messages",
    tools: chosen,
    ignored: namesOf(ignored),
    stop,
    form: {
      ...choice,
      ...(jsonOutput !== undefined && { jsonOutput }),
      ...(stop.length > 0 && { stop }),
    },
    identity: identityOf({ ...asked, entries, tools: schemas, jsonOutput, stop }, ignored),
  };
}

function inputEntries(
  input: z.output<typeof inputSchema> | undefined,
  instructions: string | null | undefined,
): InputEntry[] {
  const { items } = withoutCompaction(itemsOf(input));
  const said: InputEntry = {
    type: "message",
    source: "system",
    content: instructions ?? "",
    answer: false,
  };
  return [
    ...(instructions ? [said] : []),
    ...items.map((item, index) => entryOf(item, `input[${index}]`)),
  ];
}

function entriesOf(message: z.output<typeof messageSchema>, path: string): InputEntry[] {
  const { role, tool_calls, tool_call_id, name } = message;
  const content = message.content ?? "";
  const contentPath = `${path}.content`;
  switch (role) {
    case "tool":
      if (tool_call_id == null) throw refusedAt(`${path}.tool_call_id`, "is missing");
      return [{ type: "output", id: tool_call_id, content: outputOf(content, contentPath) }];
    case "assistant": {
      const calls = (tool_calls ?? []).flatMap(({ id, function: called }) =>
        called === undefined ? [] : [{ id, name: called.name, arguments: called.arguments }],
      );
      const text = textOf(content, contentPath);
      return [
        { type: "message", source: "assistant", content: text, answer: true },
        ...(calls.length > 0 ? [{ type: "calls" as const, calls }] : []),
      ];
    }
    case "user":
      return [
        {
          type: "message",
          source: name != null && /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : "user",
          content: contentOf(content, contentPath),
          answer: false,
        },
      ];
    case "system":
    case "developer":
      return [
        { type: "message", source: "system", content: textOf(content, contentPath), answer: false },
      ];
  }
}
