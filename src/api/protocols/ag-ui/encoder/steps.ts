import type { AgUiEvent } from "../wire/events.ts";
import type { SharedState } from "./shared-state.ts";

/** A step per agent from its first event to its message. The shared state names the last agent that began one. */
export class AgentSteps {
  readonly #speaking = new Set<string>();
  readonly #state: SharedState;

  constructor(state: SharedState) {
    this.#state = state;
  }

  begin(source: string): AgUiEvent[] {
    if (this.#speaking.has(source)) return [];
    this.#speaking.add(source);
    return [{ type: "STEP_STARTED", stepName: source }, ...this.#tellSpeaker()];
  }

  end(source: string): AgUiEvent[] {
    if (!this.#speaking.delete(source)) return [];
    return [{ type: "STEP_FINISHED", stepName: source }, ...this.#tellSpeaker()];
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
