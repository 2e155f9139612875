import type { ComponentModel } from "troupe";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import type { Services } from "./components.ts";

/** A team and a run that always goes the same way, however often the service dies while it runs. */
export interface Scenario {
  name: string;
  component(services: Services): ComponentModel;
  /** Rules of the fake model. Each reply must contain a digest of its request, which shows which one was recorded. */
  rules: readonly RuleInput[];
  task: string;
  /**
   * Answers of humans to requests for input: in order, or by the name of the agent that asks; other requests stay open.
   * Approvals are granted. Without it no request is answered.
   */
  answers?: readonly string[] | { readonly [name: string]: string };
  /** Some speak side by side: the log has their items as they come, in order for each source only. */
  sideBySide?: boolean;
  /** Sent as soon as the model has got that many requests; the run may end before it takes effect. */
  stop?: { mode: "now" | "after_turn"; afterRequests: number };
  /** A fault of the model that makes the run fail. It is removed then, and the trial examines the retry. */
  fails?: RuleInput;
  /** Asked for as soon as the model has got that many requests; resumed when it has taken effect. */
  pause?: { afterRequests: number };
}

/** Streams slowly enough to be killed in the middle. */
export const PACED: RuleInput = { name: "paced", pace_ms: 2 };
