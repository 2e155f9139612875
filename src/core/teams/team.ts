import type { Component } from "../component/component.ts";
import type { Runnable } from "../run/runnable.ts";

/** A group of agents that works on a task turn by turn (AutoGen `Team`). */
export interface Team extends Runnable, Component {}
