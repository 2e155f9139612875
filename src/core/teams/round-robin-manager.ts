import * as z from "zod";
import type { Json, JsonObject } from "../json.ts";
import type { AgentEvent } from "../messages/message.ts";
import { parseState, stateSchemaOf } from "../state/load-state.ts";
import type { Decision, GroupChatManager, GroupChatView } from "./group-chat-manager.ts";

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
