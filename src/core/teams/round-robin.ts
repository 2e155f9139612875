import type { ChatAgent } from "../agents/chat-agent.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
} from "../component/component.ts";
import { groupChatConfigSchema, loadGroupChat } from "./group-chat-config.ts";
import { GroupChat, type GroupChatOptions } from "./group-chat.ts";
import type { Team } from "./team.ts";
import * as z from "zod";
import type { Json, JsonObject } from "../json.ts";
import type { AgentEvent } from "../messages/message.ts";
import { parseState, stateSchemaOf } from "../state/load-state.ts";
import type { Decision, GroupChatManager, GroupChatView, Spoken } from "./group-chat-manager.ts";

/**
 * A team whose participants speak one after the other, round and round (AutoGen `RoundRobinGroupChat`).
 *
 * @throws ValueError when there is no participant, two have the same name, or `maxTurns` is not positive
 *
 * @example
 * const team = new RoundRobinGroupChat([writer, critic], {
 *   terminationCondition: new TextMentionTermination("APPROVE").or(new MaxMessageTermination(10)),
 * });
 * const result = await run(team, { task: "Write a haiku about the sea." });
 */
export class RoundRobinGroupChat extends GroupChat {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    componentType: "team",
    role: "team",
    version: 1,
    configSchema: groupChatConfigSchema,
    fromConfig(config, loader) {
      const { participants, options } = loadGroupChat(config, loader);
      return new RoundRobinGroupChat(participants, options);
    },
  });
  readonly definition: Component["definition"] = RoundRobinGroupChat.component;

  constructor(participants: readonly (ChatAgent | Team)[], options: GroupChatOptions = {}) {
    super(participants, new RoundRobinGroupChatManager(), {
      ...options,
      name: options.name || "RoundRobinGroupChat",
      description: options.description || "A team of agents.",
    });
  }
}

const stateSchema = stateSchemaOf("RoundRobinManagerState").extend({
  next_speaker_index: z.number().int().nonnegative().default(0),
});

/** Lets the participants speak in turn (AutoGen `RoundRobinGroupChatManager`). */
export class RoundRobinGroupChatManager implements GroupChatManager {
  readonly name = "RoundRobinGroupChatManager";
  #next = 0;

  // oxlint-disable-next-line require-yield
  async *decide({ participants }: GroupChatView): AsyncGenerator<AgentEvent, Decision, void> {
    const index = this.#next % participants.length;
    this.#next = (index + 1) % participants.length;
    return {
      kind: "speak",
      speakers: participants.slice(index, index + 1).map(({ name }) => name),
    };
  }

  /** Whoever has spoken out of turn, to read a message, is not asked again at once. */
  observe(spoken: readonly Spoken[], { participants }: GroupChatView): void {
    const next = participants[this.#next % participants.length]?.name;
    if (spoken.some(({ name }) => name !== null && name === next)) {
      this.#next = (this.#next + 1) % participants.length;
    }
  }

  reset(): void {
    this.#next = 0;
  }

  saveState(): JsonObject {
    return { type: "RoundRobinManagerState", version: "1.0.0", next_speaker_index: this.#next };
  }

  loadState(state: JsonObject): void {
    this.#next = parseState(stateSchema, state, "a round-robin state").next_speaker_index;
  }

  head(): Json {
    return this.#next;
  }

  loadHead(head: Json): void {
    this.#next = head as number;
  }
}
