import type { AgUiEvent } from "./events.ts";
import { OWN } from "./events.ts";

/** Who speaks: a step per agent from its first event to its message, and the last of them in the shared state. */
export class Progress {
  readonly #speaking = new Set<string>();
  readonly #state: boolean;
  #told: string | null | undefined;

  /** @param state whether the shared state may be amended */
  constructor(state: boolean) {
    this.#state = state;
  }

  /** Before anything is said. */
  begin(): AgUiEvent[] {
    return this.#tell();
  }

  speaks(source: string): AgUiEvent[] {
    if (this.#speaking.has(source)) return [];
    this.#speaking.add(source);
    return [{ type: "STEP_STARTED", stepName: source }, ...this.#tell()];
  }

  hasSpoken(source: string): AgUiEvent[] {
    if (!this.#speaking.delete(source)) return [];
    return [{ type: "STEP_FINISHED", stepName: source }, ...this.#tell()];
  }

  /** Nobody speaks any more. */
  end(): AgUiEvent[] {
    const ended = [...this.#speaking];
    this.#speaking.clear();
    return [
      ...ended.map((stepName) => ({ type: "STEP_FINISHED" as const, stepName })),
      ...this.#tell(),
    ];
  }

  #tell(): AgUiEvent[] {
    const speaker = [...this.#speaking].at(-1) ?? null;
    if (!this.#state || speaker === this.#told) return [];
    this.#told = speaker;
    // "add" replaces what is there.
    return [{ type: "STATE_DELTA", delta: [{ op: "add", path: `/${OWN}`, value: { speaker } }] }];
  }
}
