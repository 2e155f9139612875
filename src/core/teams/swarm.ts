import { type ChatAgent, isAgent } from "../agents/chat-agent.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
} from "../component/component.ts";
import { ValueError } from "../errors.ts";
import { groupChatConfigSchema, loadGroupChat } from "./group-chat-config.ts";
import { GroupChat, type GroupChatOptions } from "./group-chat.ts";
import { SwarmGroupChatManager } from "./swarm-manager.ts";
import { requireParticipants } from "./participant.ts";
import type { Team } from "./team.ts";

/**
 * A team whose participants hand the conversation over to each other (AutoGen `Swarm`). The first begins; the
 * speaker stays the same until a `HandoffMessage` names another. A handoff to a name outside (a human) ends the run with a
 * `HandoffTermination`; a `HandoffMessage` to a participant as the next task resumes it. A team may be a participant,
 * too: it is handed to by its name, and hands over when the last thing it says is a handoff.
 *
 * @throws ValueError when there is no participant, two have the same name, the first cannot hand over, or `maxTurns` is
 * not positive
 *
 * @example
 * const team = new Swarm([desk, refunds], {
 *   terminationCondition: new HandoffTermination("user").or(new TextMentionTermination("DONE")),
 * });
 * await run(team, { task: "My lamp is broken." });
 * await run(team, { task: { type: "HandoffMessage", source: "user", target: "refunds", content: "Order 17." } });
 */
export class Swarm extends GroupChat {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.teams.Swarm",
    componentType: "team",
    role: "team",
    version: 1,
    configSchema: groupChatConfigSchema,
    fromConfig(config, loader) {
      const { participants, options } = loadGroupChat(config, loader);
      return new Swarm(participants, options);
    },
  });
  readonly definition: Component["definition"] = Swarm.component;

  constructor(participants: readonly (ChatAgent | Team)[], options: GroupChatOptions = {}) {
    requireParticipants(participants, "Swarm");
    const name = options.name || "Swarm";
    super(participants, new SwarmGroupChatManager(name, participants), {
      ...options,
      name,
      description: options.description || "A team of agents.",
    });
    const [first] = participants;
    if (first !== undefined && !canHandOver(first)) {
      const message = `"${first.name}" begins, and never answers with a HandoffMessage`;
      throw new ValueError(message, { issues: [{ path: "participants[0]", message }] });
    }
  }
}

/** True if the last message of a participant can be a handoff. For a team, this depends on its members. */
function canHandOver(participant: ChatAgent | Team): boolean {
  return !isAgent(participant) || participant.producedMessageTypes.includes("HandoffMessage");
}
