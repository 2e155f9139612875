import { onOneLine } from "../text/python-space.ts";
import type { ParticipantInfo } from "./group-chat-manager.ts";

/** The participants as text for a model: a line for each, name and description. */
export function rolesOf(participants: readonly ParticipantInfo[]): string {
  return participants
    .map(({ name, description }) => onOneLine(`${name}: ${description}`))
    .join("\n");
}
