import type { Note } from "../../../core/component/component.ts";
import type { AnthropicConfig } from "./config.ts";

/**
 * Models that decide for themselves how much they think.
 * https://platform.claude.com/docs/build-with-claude/thinking-troubleshooting
 */
const ADAPTIVE_ONLY = /^claude-(opus-4-[7-9]|(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d))/;

/** Models that think by a budget alone. */
const BUDGET_ONLY = /^claude-(3|4-|(opus|sonnet|haiku)-4(-[0-5](\D|$)|-20\d{6}|$))/;

/** The smallest `top_p` of a request with thinking. */
const LEAST_TOP_P = 0.95;

/** Notes on settings that Anthropic's server would refuse or the client leaves out, with the remedy. */
export function claudeNotes(config: AnthropicConfig): Note[] {
  const name = config.model.split("/").at(-1) ?? config.model;
  return [
    ...thinkingNotes(config, name),
    ...budgetNotes(config),
    ...(ADAPTIVE_ONLY.test(name) ? samplingNotes(config) : thinkingSamplingNotes(config)),
  ];
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

function budgetNotes({ thinking, max_tokens, default_headers }: AnthropicConfig): Note[] {
  if (thinking?.type !== "enabled" || max_tokens == null || max_tokens > thinking.budget_tokens)
    return [];
  // Interleaved thinking, a beta, has its budget for all answers of a turn. Values of headers are hidden as secrets.
  if (default_headers != null && "anthropic-beta" in default_headers) return [];
  const message =
    `is refused: max_tokens covers thinking and the answer, and must be greater than budget_tokens (${thinking.budget_tokens}). ` +
    "Raise it, or leave it out";
  return [{ path: "config.max_tokens", message }];
}

function samplingNotes({ model, temperature, top_p, top_k }: AnthropicConfig): Note[] {
  return notDefault({ temperature, top_p, top_k }).map((field) => ({
    path: `config.${field}`,
    message: `is refused for '${model}': leave it out`,
  }));
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, feature compatibility. */
function thinkingSamplingNotes({
  model,
  thinking,
  temperature,
  top_p,
  top_k,
}: AnthropicConfig): Note[] {
  if (thinking?.type !== "enabled" && thinking?.type !== "adaptive") return [];
  const mayHave = top_p != null && top_p >= LEAST_TOP_P && top_p <= 1;
  return notDefault({ temperature, top_k, top_p: mayHave ? null : top_p }).map((field) => ({
    path: `config.${field}`,
    message:
      field === "top_p"
        ? `is refused for '${model}' while it thinks, if it is less than ${LEAST_TOP_P}: leave it or thinking out`
        : `is refused for '${model}' while it thinks: leave it or thinking out`,
  }));
}

/** The fields that are set, to a value that is not the API's default. */
function notDefault(
  fields: Record<"temperature" | "top_p" | "top_k", number | null | undefined>,
): string[] {
  return Object.entries(fields)
    .filter(([name, value]) => value != null && !(name === "temperature" && value === 1))
    .map(([name]) => name);
}
