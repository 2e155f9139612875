import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
  withoutInnerNulls,
} from "../component/component.ts";
import { ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import { jsonObjectSchema } from "../json-object.ts";
import type { JsonObject } from "../json.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { Member } from "../run/runnable.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { baseStateSchema, parseState } from "../state/load-state.ts";
import { type StateParts, within } from "../state/stateful.ts";
import { BaseChatAgent } from "./base-chat-agent.ts";
import type { ChatAgent, AgentResponse } from "./chat-agent.ts";
import { filterMessages, type PerSourceFilter, perSourceSchema } from "./message-filter.ts";
import { aList, anAgent, aText, checkOptions, type OptionsSchema } from "../options/options.ts";

const configSchema = z.object({
  name: z.string(),
  wrapped_agent: componentModelSchema,
  filter: z.object({ per_source: perSourceSchema }),
});

const stateSchema = baseStateSchema.extend({
  troupe: z.object({ wrapped_agent_state: jsonObjectSchema.optional() }).optional(),
});

/** The messages that pass (AutoGen `MessageFilterConfig`); those of unlisted sources are dropped. */
export interface MessageFilterConfig {
  perSource: readonly PerSourceFilter[];
}

export interface MessageFilterAgentOptions {
  /** An identifier, unique in the team. The agent's messages carry the wrapped agent's name. */
  name: string;
  wrappedAgent: ChatAgent;
  filter: MessageFilterConfig;
}

const optionsSchema: OptionsSchema<MessageFilterAgentOptions> = z.object({
  name: aText,
  wrappedAgent: anAgent,
  filter: z.strictObject({ perSource: aList }),
});

/**
 * Passes selected messages on to an agent (AutoGen `MessageFilterAgent`). The filter sees only the messages that
 * are new to the agent: the last message of a source is the last since the agent spoke.
 *
 * @example
 * const critic = new MessageFilterAgent({
 *   name: "critic",
 *   wrappedAgent: new AssistantAgent({ name: "critic", modelClient }),
 *   filter: { perSource: [{ source: "user" }, { source: "writer", position: "last", count: 1 }] },
 * });
 */
export class MessageFilterAgent extends BaseChatAgent {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.agents.MessageFilterAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema,
    fromConfig: ({ name, wrapped_agent, filter }, loader) =>
      new MessageFilterAgent({
        name,
        wrappedAgent: loader.load<ChatAgent>(wrapped_agent, "agent", "wrapped_agent"),
        filter: { perSource: filter.per_source },
      }),
  });

  readonly definition = MessageFilterAgent.component;
  readonly #agent: ChatAgent;
  readonly #filters: readonly PerSourceFilter[];

  /** @throws ValueError for a bad name, and for a filter with a count and no position */
  constructor(options: MessageFilterAgentOptions) {
    const { name, wrappedAgent, filter } = checkOptions(
      optionsSchema,
      options,
      "MessageFilterAgent",
    );
    super(name, `${wrappedAgent.description} (with message filtering)`);
    const { data, error } = perSourceSchema.safeParse(filter.perSource);
    if (error) {
      const issues = issuesOf(error, "filter.per_source");
      throw new ValueError(listIssues(issues), { issues });
    }
    this.#agent = wrappedAgent;
    this.#filters = data;
  }

  get members(): readonly Member[] {
    return this.#agent.members ?? [];
  }

  get producedMessageTypes(): readonly string[] {
    return this.#agent.producedMessageTypes;
  }

  onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    return this.#agent.onMessagesStream(filterMessages(this.#filters, messages), ctx);
  }

  onReset(ctx: TurnContext): Promise<void> {
    return this.#agent.onReset(ctx);
  }

  override onPause(): Promise<void> {
    return this.#agent.onPause();
  }

  override onResume(): Promise<void> {
    return this.#agent.onResume();
  }

  override close(): Promise<void> {
    return this.#agent.close();
  }

  /** AutoGen saves nothing of the wrapped agent. */
  override saveState(): JsonObject {
    return { ...super.saveState(), troupe: { wrapped_agent_state: this.#agent.saveState() } };
  }

  /** @throws StateError; then nothing has changed. A state that AutoGen saved leaves the wrapped agent as it is. */
  override loadState(state: JsonObject): void {
    const data = parseState(stateSchema, state, `the state of "${this.name}"`);
    const own = data.troupe?.wrapped_agent_state;
    if (own !== undefined) {
      within("troupe.wrapped_agent_state", () => this.#agent.loadState(own));
    }
  }

  stateParts(): StateParts {
    return { children: { wrapped_agent: this.#agent } };
  }

  toConfig(): JsonObject {
    return {
      name: this.name,
      wrapped_agent: dumpComponent(this.#agent),
      filter: { per_source: this.#filters.map(withoutInnerNulls) },
    };
  }
}
