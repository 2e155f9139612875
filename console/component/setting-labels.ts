import { titleOf } from "../teams/kinds.ts";

/** Settings that people know by another name than the words of their key. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["system_message", "System message"],
  ["instructions", "System message"],
  ["instruction", "System message"],
  ["model_client", "Model"],
  ["model_client_stream", "Show answers while they are written"],
  ["reflect_on_tool_use", "Answer in its own words from results of tools"],
  ["tool_call_summary_format", "Format of results of tools"],
  ["max_tool_iterations", "Most rounds of tool calls in a turn"],
  ["tool_search", "Search tools"],
  ["max_turns", "Most turns of a run"],
  ["max_stalls", "Most rounds without progress"],
  ["max_selector_attempts", "Most attempts to select a speaker"],
  ["allow_repeated_speaker", "An agent may speak twice in a row"],
  ["emit_team_events", "Show events of the team"],
  ["k", "Number of parts that are found"],
]);

const PROMPTS = ["system_message", "instructions", "instruction"];

/** A setting by the name that people know. */
export function labelOf(key: string): string {
  return LABELS.get(key) ?? titleOf(key);
}

/** The key of the system message among those that a class has; AutoGen has three names for it. */
export function promptKeyIn(has: (key: string) => boolean): string | undefined {
  return PROMPTS.find(has);
}

export function isPrompt(key: string): boolean {
  return PROMPTS.includes(key);
}
