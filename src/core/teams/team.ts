import type { Component } from "../component/component.ts";
import type { Runnable } from "../run/runnable.ts";

/** A group of agents that works on a task turn by turn (AutoGen `Team`). */
export interface Team extends Runnable, Component {
  /**
   * Presses every `ExternalTermination` in its conditions and those of inner teams: a run ends after the turn in
   * progress.
   */
  requestStop(): void;
}
