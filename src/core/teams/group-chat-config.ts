import * as z from "zod";
import type { ChatAgent } from "../agents/chat-agent.ts";
import { componentModelSchema } from "../component/component-model.ts";
import type { ComponentLoader } from "../component/component.ts";
import type { TerminationCondition } from "../conditions/termination-condition.ts";
import type { GroupChatOptions } from "./group-chat.ts";
import type { Team } from "./team.ts";

/** The config keys all group chats share. */
export const groupChatConfigSchema = z.object({
  name: z.string().nullish(),
  description: z.string().nullish(),
  participants: z.array(componentModelSchema),
  termination_condition: componentModelSchema.nullish(),
  max_turns: z.number().int().nullish(),
  emit_team_events: z.boolean().default(false),
});

/**
 * Loads what {@link groupChatConfigSchema} describes.
 *
 * @param roles what participants can be
 */
export function loadGroupChat<Member extends ChatAgent | Team = ChatAgent | Team>(
  config: z.infer<typeof groupChatConfigSchema>,
  loader: ComponentLoader,
  roles: readonly ("agent" | "team")[] = ["agent", "team"],
): { participants: Member[]; options: GroupChatOptions } {
  const { termination_condition } = config;
  return {
    participants: config.participants.map((model, index) =>
      loader.load<Member>(model, roles, `participants[${index}]`),
    ),
    options: {
      name: config.name,
      description: config.description,
      terminationCondition:
        termination_condition &&
        loader.load<TerminationCondition>(
          termination_condition,
          "termination",
          "termination_condition",
        ),
      maxTurns: config.max_turns,
      emitTeamEvents: config.emit_team_events,
    },
  };
}
