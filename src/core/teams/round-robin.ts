import type { ChatAgent } from "../agents/chat-agent.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
} from "../component/component.ts";
import { groupChatConfigSchema, loadGroupChat } from "./group-chat-config.ts";
import { GroupChat, type GroupChatOptions } from "./group-chat.ts";
import { RoundRobinGroupChatManager } from "./round-robin-manager.ts";
import type { Team } from "./team.ts";

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
