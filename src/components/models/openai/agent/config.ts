import * as z from "zod";
import { componentModelSchema } from "../../../../core/component/component-model.ts";
import { type Issue, ValueError } from "../../../../core/errors.ts";
import { listIssues } from "../../../../core/issues.ts";
import { jsonObjectSchema } from "../../../../core/json-object.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { ChatCompletionClient } from "../../../../core/models/chat-completion-client.ts";
import type { CamelKeys } from "../../../../core/options/option-names.ts";

const TRUNCATIONS = ["disabled", "auto"] as const;

/** AutoGen's config of `OpenAIAgent`, and `model_client`. */
export const openAIAgentConfigSchema = z.object({
  name: z.string(),
  description: z.string(),
  model: z.string().min(1),
  instructions: z.string(),
  /** Tools that OpenAI runs, by name or with their settings. */
  tools: z.array(z.union([z.string(), jsonObjectSchema])).nullish(),
  temperature: z.number().nullish().default(1),
  max_output_tokens: z.number().int().positive().nullish(),
  json_mode: z.boolean().default(false),
  /** Accepted for compatibility with AutoGen, and unused: the conversation is kept here. */
  store: z.boolean().default(true),
  truncation: z.enum(TRUNCATIONS).default("disabled"),
  /** An OpenAI or Azure client to use instead of OpenAI with the key of the settings. AutoGen ignores it. */
  model_client: componentModelSchema.nullish(),
});
export type OpenAIAgentConfig = z.output<typeof openAIAgentConfigSchema>;

/** The fields of the config except the client, which code passes as an object. */
export const openAIAgentOptionsSchema = openAIAgentConfigSchema.omit({ model_client: true });

/** An OpenAIAgent in code. */
export type OpenAIAgentOptions = Omit<
  CamelKeys<z.input<typeof openAIAgentConfigSchema>>,
  "modelClient"
> & {
  /** A client of the Responses API. Default: OpenAI's server, by the key of the settings. */
  modelClient?: ChatCompletionClient;
};

/** Tools without required settings, which may be given by name. */
const BY_NAME = ["web_search_preview", "web_search", "image_generation", "local_shell"];

/** The required settings of a tool. */
const REQUIRED: { readonly [type: string]: readonly string[] } = {
  file_search: ["vector_store_ids"],
  code_interpreter: ["container"],
  computer_use_preview: ["display_height", "display_width", "environment"],
  mcp: ["server_label"],
};

/** The model that has a shell of its own. */
const SHELL_MODEL = "codex-mini-latest";

/**
 * The tools with their settings, each once.
 * @throws ValueError naming the tools that cannot be used
 */
export function toolsOf({
  tools,
  model,
}: Pick<OpenAIAgentConfig, "tools" | "model">): JsonObject[] {
  const issues: Issue[] = [];
  const found: JsonObject[] = [];
  for (const [index, tool] of (tools ?? []).entries()) {
    const settings = typeof tool === "string" ? { type: tool } : tool;
    const message = problemOf(settings, typeof tool === "string", model);
    if (message !== undefined) issues.push({ path: `tools[${index}]`, message });
    const isRepeated = typeof tool === "string" && found.some(({ type }) => type === tool);
    if (!isRepeated) found.push(settings);
  }
  if (issues.length > 0) throw new ValueError(listIssues(issues), { issues });
  return found;
}

function problemOf(settings: JsonObject, byName: boolean, model: string): string | undefined {
  const { type } = settings;
  if (typeof type !== "string") return `needs a type, which is a text: ${BY_NAME.join(", ")}`;
  if (type === "function" || type === "custom")
    return "cannot be a tool of one's own: this agent has the tools that OpenAI runs; AssistantAgent has others";
  const required = REQUIRED[type] ?? [];
  if (byName && required.length > 0)
    return `must be an object with ${["type", ...required].join(", ")}: ${type} has settings that it cannot do without`;
  if (byName && !BY_NAME.includes(type))
    return `must be one of ${BY_NAME.join(", ")}, or an object with the settings of the tool`;
  const missing = required.filter((name) => settings[name] === undefined);
  if (missing.length > 0) return `lacks ${missing.join(", ")}`;
  if (type === "local_shell" && model !== SHELL_MODEL)
    return `works with the model ${SHELL_MODEL} only, not with ${model}`;
  return undefined;
}
