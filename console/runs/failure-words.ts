import type { RunInfo } from "troupe/client";
import { visibleName } from "../text/foreign.ts";

/** The error of a run; lists do not name the agent. */
type Failed = Pick<NonNullable<RunInfo["error"]>, "type" | "message"> & {
  agent?: string | null;
};

/** The advice on a failed run, by the type of its error. `{agent}` stands for the agent that failed. */
const ADVICE: Readonly<Record<string, string>> = {
  model_rate_limit: "Wait a minute, then retry the run.",
  model_connection: "Check the address of the model of {agent}, or retry when its server is back.",
  model_timeout: "Retry the run, or raise the timeout of the model of {agent}.",
  model_context_length: "Give {agent} a model context that shortens the conversation.",
  model_bad_request: "Check the model and the settings of {agent}.",
  model_refused: "Reword the task, or choose another model for {agent}.",
  model_exhausted: "Add answers to its replay client, or choose another model.",
  egress_denied: "Ask the operator to allow this host.",
  token_limit: "Raise the limit of tokens, or have the run stop earlier.",
  run_timeout: "Raise the time limit of the run, or have it stop earlier.",
  sandbox_unavailable:
    "Retry the run. If it fails again, ask the operator whether the sandbox is running.",
  sandbox_busy: "Retry the run in a minute.",
  too_many_tokens: "Wait for the next period, or ask the operator for a higher limit.",
  too_many_costs: "Wait for the next period, or ask the operator for a higher budget.",
  price_unknown: "Ask the operator to set the price of the model.",
};

/** The reason of a failed run, without invisible characters. The runtime's words for a script of answers are AutoGen's. */
export function reasonOf({ type, message, agent }: Failed): string {
  const of = agent == null ? "" : ` of ${agent}`;
  const reasons: Readonly<Record<string, string>> = {
    model_exhausted: `The replay client${of} has no answer left: it only repeats recorded ones.`,
    model_auth: `The model server refused the key${of}: ${message}`,
  };
  return visibleName(reasons[type] ?? message);
}

/** The advice on a failed run; undefined if there is none. */
export function adviceOf({ type, agent }: Failed): string | undefined {
  const advice = ADVICE[type]?.replace("{agent}", agent ?? "the team");
  return advice && visibleName(advice);
}

/** The part of a model client to which the page leads; undefined if a change of it does not help. */
export function fieldToChange({ type }: Failed): "key" | "model" | undefined {
  if (["model_auth", "secret_not_set", "secret_not_allowed"].includes(type)) return "key";
  const isModel = ["model_bad_request", "model_connection", "model_exhausted"].includes(type);
  return isModel ? "model" : undefined;
}
