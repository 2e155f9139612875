import type { Note } from "../../core/component/component.ts";
import type { AnthropicConfig } from "./config.ts";

/** Models that decide themselves how much they think. https://platform.claude.com/docs/build-with-claude/thinking-troubleshooting */
const ADAPTIVE_ONLY = /^claude-(opus-4-[7-9]|(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d))/;

/** Models that think by a budget alone. */
const BUDGET_ONLY = /^claude-(3|4-|(opus|sonnet|haiku)-4(-[0-5](\D|$)|-20\d{6}|$))/;

/** Remarks on what Anthropic's server would refuse or the client leaves out, with the remedy. */
export function claudeNotes(config: AnthropicConfig): Note[] {
  const name = config.model.split("/").at(-1) ?? config.model;
  return [...thinkingNotes(config, name), ...samplingNotes(config, name)];
}

function thinkingNotes(
  { model, thinking, response_format }: AnthropicConfig,
  name: string,
): Note[] {
  const path = "config.thinking";
  const type = thinking?.type;
  if (type === "enabled" && ADAPTIVE_ONLY.test(name))
    return [
      { path, message: `a budget is refused for '${model}': make the type "adaptive" instead` },
    ];
  if (type === "adaptive" && BUDGET_ONLY.test(name))
    return [
      {
        path,
        message: `"adaptive" is refused for '${model}': make the type "enabled", with budget_tokens`,
      },
    ];
  const thinks = type === "enabled" || type === "adaptive";
  if (thinks && response_format?.type === "json_object")
    return [
      {
        path,
        message:
          "has no effect: for JSON a tool is forced, and Claude does not think in a request that forces one. Leave out " +
          "thinking or response_format",
      },
    ];
  return [];
}

function samplingNotes(config: AnthropicConfig, name: string): Note[] {
  if (!ADAPTIVE_ONLY.test(name)) return [];
  const fields = [
    ["temperature", config.temperature],
    ["top_p", config.top_p],
    ["top_k", config.top_k],
  ] as const;
  return fields
    .filter(([field, value]) => value != null && !(field === "temperature" && value === 1))
    .map(([field]) => ({
      path: `config.${field}`,
      message: `is refused for '${config.model}': leave it out`,
    }));
}
