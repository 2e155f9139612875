import * as z from "zod";
import type { ChatAgent } from "../../agents/chat-agent.ts";
import { componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  type ComponentLoader,
  dumpComponent,
  withoutNulls,
} from "../../component/component.ts";
import { functionName } from "../../component/functions.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import { UnboundedChatCompletionContext } from "../../context/base-chat-completion-context.ts";
import { ValueError } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import { formatNotes, requireTemplates } from "../../text/check-format.ts";
import { groupChatConfigSchema, loadGroupChat } from "../group-chat-config.ts";
import {
  GroupChat,
  type GroupChatOptions,
  groupChatOptions,
  groupChatOptionsSchema,
} from "../group-chat.ts";
import type { Team } from "../team.ts";
import {
  DEFAULT_FEEDBACK,
  DEFAULT_SELECTOR_PROMPT,
  type SelectorFeedback,
  selectorFeedbackSchema,
} from "./prompts.ts";
import { SelectorGroupChatManager } from "./selector-manager.ts";
import type { CandidateFunction, SelectorFunction, SelectorSettings } from "./settings.ts";
import {
  aBoolean,
  aFunction,
  aModelClient,
  aModelContext,
  aNumber,
  aText,
  checkOptions,
  type OptionsSchema,
} from "../../options/options.ts";

export interface SelectorGroupChatOptions extends GroupChatOptions {
  /** Chooses the next speaker. */
  modelClient: ChatCompletionClient;
  /** The prompt: a template over `{roles}`, `{participants}` and `{history}`. */
  selectorPrompt?: string | undefined;
  /** The feedback when the model's answer cannot be used. */
  selectorFeedback?:
    | { [Mistake in keyof SelectorFeedback]?: string | undefined }
    | null
    | undefined;
  /** True if a participant may speak twice in a row. Default false. */
  allowRepeatedSpeaker?: boolean | undefined;
  /** The most attempts of the model at one choice. After them the previous speaker continues. Default 3. */
  maxSelectorAttempts?: number | undefined;
  /** Chooses before the model is called. */
  selectorFunc?: SelectorFunction | null | undefined;
  /** Returns the candidates for the model; `allowRepeatedSpeaker` then does not exclude the previous speaker. */
  candidateFunc?: CandidateFunction | null | undefined;
  /** True if the model's answer streams; with `emitTeamEvents` it is shown. Default false. */
  modelClientStreaming?: boolean | undefined;
  /** Selects the part of the conversation that the model sees as `{history}`. Default everything. */
  modelContext?: ChatCompletionContext | null | undefined;
}

const optionsSchema: OptionsSchema<SelectorGroupChatOptions> = groupChatOptionsSchema.extend({
  modelClient: aModelClient,
  selectorPrompt: aText.optional(),
  selectorFeedback: z
    .strictObject({ none: aText.nullish(), many: aText.nullish(), repeated: aText.nullish() })
    .nullish(),
  allowRepeatedSpeaker: aBoolean.optional(),
  maxSelectorAttempts: aNumber.optional(),
  selectorFunc: aFunction.nullish(),
  candidateFunc: aFunction.nullish(),
  modelClientStreaming: aBoolean.optional(),
  modelContext: aModelContext.nullish(),
});

const configSchema = groupChatConfigSchema.extend({
  model_client: componentModelSchema,
  selector_prompt: z.string().optional(),
  selector_feedback: selectorFeedbackSchema.nullish(),
  allow_repeated_speaker: z.boolean().default(false),
  selector_func: z.string().nullish(),
  candidate_func: z.string().nullish(),
  max_selector_attempts: z.number().int().default(3),
  model_client_streaming: z.boolean().default(false),
  model_context: componentModelSchema.nullish(),
});

/**
 * A team in which a model chooses the next speaker (AutoGen `SelectorGroupChat`). Functions in code may choose instead
 * of the model, or narrow its choice.
 *
 * @throws ValueError when there are fewer than two participants, two have the same name, or `maxTurns` is not positive
 *
 * @example
 * const team = new SelectorGroupChat([planner, coder, tester], {
 *   modelClient,
 *   terminationCondition: new TextMentionTermination("DONE"),
 * });
 */
export class SelectorGroupChat extends GroupChat {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.teams.SelectorGroupChat",
    componentType: "team",
    role: "team",
    version: 1,
    configSchema,
    fromConfig(config, loader) {
      const { participants, options } = loadGroupChat(config, loader);
      return new SelectorGroupChat(participants, { ...options, ...ownOptions(config, loader) });
    },
    notes: ({ selector_prompt, selector_feedback }) => [
      ...formatNotes("config", { selector_prompt }),
      ...formatNotes("config.selector_feedback", selector_feedback ?? {}),
    ],
  });
  readonly definition: Component["definition"] = SelectorGroupChat.component;
  readonly #options: SelectorGroupChatOptions;
  readonly #settings: SelectorSettings;

  constructor(participants: readonly (ChatAgent | Team)[], options: SelectorGroupChatOptions) {
    const settings = settingsOf(checkOptions(optionsSchema, options, "SelectorGroupChat"));
    super(participants, new SelectorGroupChatManager(settings), {
      ...groupChatOptions(options),
      name: options.name || "SelectorGroupChat",
      description: options.description || "A team of agents.",
    });
    if (participants.length < 2) {
      throw new ValueError("a SelectorGroupChat needs at least two participants to choose from");
    }
    this.#options = options;
    this.#settings = settings;
  }

  override toConfig(): JsonObject {
    const { selectorFeedback, modelContext } = this.#options;
    const settings = this.#settings;
    return {
      ...super.toConfig(),
      ...withoutNulls({
        model_client: dumpComponent(settings.modelClient),
        selector_prompt: settings.prompt,
        selector_feedback: selectorFeedback && withoutNulls(selectorFeedback),
        allow_repeated_speaker: settings.allowRepeatedSpeaker,
        selector_func: functionName(settings.selectorFunc),
        candidate_func: functionName(settings.candidateFunc),
        max_selector_attempts: settings.maxAttempts,
        model_client_streaming: settings.streaming,
        model_context: modelContext && dumpComponent(modelContext),
      }),
    };
  }
}

function settingsOf(options: SelectorGroupChatOptions): SelectorSettings {
  const { modelContext, selectorFeedback } = options;
  const prompt = options.selectorPrompt ?? DEFAULT_SELECTOR_PROMPT;
  const feedback: SelectorFeedback = {
    none: selectorFeedback?.none ?? DEFAULT_FEEDBACK.none,
    many: selectorFeedback?.many ?? DEFAULT_FEEDBACK.many,
    repeated: selectorFeedback?.repeated ?? DEFAULT_FEEDBACK.repeated,
  };
  requireTemplates([
    {
      path: "selector_prompt",
      template: prompt,
      example: { roles: "", participants: "", history: "" },
    },
    ...Object.entries(feedback).map(([mistake, template]) => ({
      path: `selector_feedback.${mistake}`,
      template,
      example: { participants: "" },
    })),
  ]);
  return {
    modelClient: options.modelClient,
    modelContext: modelContext ?? new UnboundedChatCompletionContext(),
    keepsContext: modelContext != null,
    prompt,
    feedback,
    allowRepeatedSpeaker: options.allowRepeatedSpeaker ?? false,
    maxAttempts: options.maxSelectorAttempts ?? 3,
    streaming: options.modelClientStreaming ?? false,
    emitTeamEvents: options.emitTeamEvents ?? false,
    selectorFunc: options.selectorFunc ?? null,
    candidateFunc: options.candidateFunc ?? null,
  };
}

function ownOptions(
  config: z.infer<typeof configSchema>,
  loader: ComponentLoader,
): Omit<SelectorGroupChatOptions, keyof GroupChatOptions> {
  const { selector_func, candidate_func, selector_feedback, model_context } = config;
  return {
    modelClient: loader.load<ChatCompletionClient>(config.model_client, "model", "model_client"),
    selectorPrompt: config.selector_prompt,
    selectorFeedback: selector_feedback,
    allowRepeatedSpeaker: config.allow_repeated_speaker,
    maxSelectorAttempts: config.max_selector_attempts,
    selectorFunc:
      selector_func == null
        ? null
        : loader.function<SelectorFunction>(selector_func, "selector_func"),
    candidateFunc:
      candidate_func == null
        ? null
        : loader.function<CandidateFunction>(candidate_func, "candidate_func"),
    modelClientStreaming: config.model_client_streaming,
    modelContext:
      model_context &&
      loader.load<ChatCompletionContext>(model_context, "chat_completion_context", "model_context"),
  };
}
