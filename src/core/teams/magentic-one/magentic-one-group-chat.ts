import * as z from "zod";
import { type ChatAgent, isAgent } from "../../agents/chat-agent.ts";
import { componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  dumpComponent,
} from "../../component/component.ts";
import { ValueError } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import {
  GroupChat,
  type GroupChatOptions,
  groupChatOptions,
  groupChatOptionsSchema,
} from "../group-chat.ts";
import { groupChatConfigSchema, loadGroupChat } from "../group-chat-config.ts";
import { requireParticipants } from "../participant.ts";
import type { Team } from "../team.ts";
import { formatNotes } from "../../text/check-format.ts";
import { MagenticOneOrchestrator } from "./magentic-one-orchestrator.ts";
import { DEFAULT_FINAL_ANSWER_PROMPT, type OrchestratorPrompts } from "./orchestrator-prompts.ts";
import {
  completePrompts,
  promptsConfigSchema,
  promptsFromConfig,
  promptsToConfig,
} from "./prompts-config.ts";
import {
  aModelClient,
  aNumber,
  anything,
  aText,
  checkOptions,
  type OptionsSchema,
} from "../../options/options.ts";

const configSchema = groupChatConfigSchema.extend({
  model_client: componentModelSchema,
  max_stalls: z.number().int().default(3),
  final_answer_prompt: z.string().optional(),
  orchestrator_prompts: promptsConfigSchema.nullish(),
});

export interface MagenticOneGroupChatOptions extends GroupChatOptions {
  /** Writes the ledgers and the final answer. */
  modelClient: ChatCompletionClient;
  /**
   * The most rounds, each started by a progress ledger. They are counted until the team is reset, not per run, and the
   * team takes one more than this before it gives its final answer. Null: no limit. Default 20.
   */
  maxTurns?: number | null | undefined;
  /** The number of rounds without progress that lead to a new plan; a round with progress cancels one. Default 3. */
  maxStalls?: number | undefined;
  /** The prompt for the final answer. Sent verbatim: it is not a template. */
  finalAnswerPrompt?: string | undefined;
  /** Templates that replace the defaults. */
  orchestratorPrompts?: Partial<OrchestratorPrompts> | undefined;
}

const optionsSchema: OptionsSchema<MagenticOneGroupChatOptions> = groupChatOptionsSchema.extend({
  modelClient: aModelClient,
  maxStalls: aNumber.optional(),
  finalAnswerPrompt: aText.optional(),
  orchestratorPrompts: anything,
});

/**
 * A team led by an orchestrator that plans, watches progress and plans again when the work stalls (AutoGen
 * `MagenticOneGroupChat`). Each task gets a new plan and resets the participants. Conditions see the messages of
 * participants, not the task and the orchestrator's own messages. Its model calls appear in no message's usage.
 *
 * @throws ValueError when there is no participant, two have the same name, one is a team, `maxTurns` is not positive,
 * or a template has an unknown placeholder
 *
 * @example
 * const team = new MagenticOneGroupChat([researcher, coder], { modelClient, maxTurns: 30 });
 * const result = await run(team, { task: "How did the price of tin develop since 1900?" });
 */
export class MagenticOneGroupChat extends GroupChat {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.teams.MagenticOneGroupChat",
    componentType: "team",
    role: "team",
    version: 1,
    configSchema,
    fromConfig(config, loader) {
      const { participants, options } = loadGroupChat<ChatAgent>(config, loader, ["agent"]);
      return new MagenticOneGroupChat(participants, {
        ...options,
        modelClient: loader.load<ChatCompletionClient>(
          config.model_client,
          "model",
          "model_client",
        ),
        maxTurns: config.max_turns ?? null,
        maxStalls: config.max_stalls,
        finalAnswerPrompt: config.final_answer_prompt,
        orchestratorPrompts: promptsFromConfig(config.orchestrator_prompts ?? {}),
      });
    },
    notes: ({ orchestrator_prompts }) =>
      formatNotes("config.orchestrator_prompts", orchestrator_prompts ?? {}),
  });
  readonly definition: Component["definition"] = MagenticOneGroupChat.component;
  readonly #own: Required<
    Pick<
      MagenticOneGroupChatOptions,
      "modelClient" | "maxStalls" | "finalAnswerPrompt" | "orchestratorPrompts"
    >
  >;

  constructor(participants: readonly ChatAgent[], options: MagenticOneGroupChatOptions) {
    const {
      modelClient,
      maxTurns = 20,
      maxStalls = 3,
      finalAnswerPrompt = DEFAULT_FINAL_ANSWER_PROMPT,
      orchestratorPrompts = {},
    } = checkOptions(optionsSchema, options, "MagenticOneGroupChat");
    requireParticipants(participants, "MagenticOneGroupChat");
    requireAgents(participants);
    const manager = new MagenticOneOrchestrator({
      modelClient,
      prompts: completePrompts(orchestratorPrompts),
      finalAnswerPrompt,
      maxRounds: maxTurns,
      maxStalls,
    });
    super(participants, manager, {
      ...groupChatOptions(options),
      maxTurns,
      name: options.name || "MagenticOneGroupChat",
      description: options.description || "A team of agents.",
    });
    this.#own = { modelClient, maxStalls, finalAnswerPrompt, orchestratorPrompts };
  }

  override toConfig(): JsonObject {
    const { modelClient, maxStalls, finalAnswerPrompt, orchestratorPrompts } = this.#own;
    const prompts = promptsToConfig(orchestratorPrompts);
    return {
      ...super.toConfig(),
      model_client: dumpComponent(modelClient),
      max_stalls: maxStalls,
      final_answer_prompt: finalAnswerPrompt,
      ...(Object.keys(prompts).length > 0 && { orchestrator_prompts: prompts }),
    };
  }
}

function requireAgents(participants: readonly (ChatAgent | Team)[]): void {
  const team = participants.find((participant) => !isAgent(participant));
  if (team === undefined) return;
  throw new ValueError(
    `"${team.name}" is a team, and the participants of a MagenticOneGroupChat are agents; wrap it in a SocietyOfMindAgent`,
  );
}
