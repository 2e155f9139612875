import type { AgUiEvent } from "../wire/events.ts";
import type { SharedState } from "./shared-state.ts";
import type { Subagents } from "./subagents.ts";

/**
 * A step per agent from its first event to its message, within its turn as a subagent. The shared state names the last agent
 * that began one.
 */
export class AgentSteps {
  readonly #speaking = new Set<string>();
  readonly #state: SharedState;
  readonly #subagents: Subagents;

  constructor(state: SharedState, subagents: Subagents) {
    this.#state = state;
    this.#subagents = subagents;
  }

  begin(source: string): AgUiEvent[] {
    const subagent = this.#subagents.begin(source);
    if (this.#speaking.has(source)) return subagent;
    this.#speaking.add(source);
    return [...subagent, { type: "STEP_STARTED", stepName: source }, ...this.#tellSpeaker()];
  }

  end(source: string): AgUiEvent[] {
    if (!this.#speaking.delete(source)) return [];
    return [
      { type: "STEP_FINISHED", stepName: source },
      ...this.#subagents.end(source),
      ...this.#tellSpeaker(),
    ];
  }

  /** All speakers have ended. */
  endAll(): AgUiEvent[] {
    const ended = [...this.#speaking];
    this.#speaking.clear();
    return [
      ...ended.map((stepName) => ({ type: "STEP_FINISHED" as const, stepName })),
      ...this.#tellSpeaker(),
    ];
  }

  #tellSpeaker(): AgUiEvent[] {
    return this.#state.change({ speaker: [...this.#speaking].at(-1) ?? null });
  }
}
