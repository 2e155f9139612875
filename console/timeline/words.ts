import type { IconName } from "../parts/icon.tsx";
import { costOf, durationOf, shortNumber } from "../parts/numbers.ts";
import { visibleName } from "../text/foreign.ts";
import type { TimelineStep } from "./steps.ts";

export const ICONS: Readonly<Record<TimelineStep["span"]["kind"], IconName>> = {
  run: "runs",
  queue: "clock",
  recovery: "retry",
  turn: "runs",
  invoke_agent: "people",
  chat: "model",
  execute_tool: "tool",
  step: "code",
  wait: "inbox",
  attempt: "retry",
  backoff: "clock",
};

/** The names of the library's own steps. */
const STEPS: Readonly<Record<string, string>> = {
  execute_code: "Runs code",
  list: "Lists tools",
  request: "Calls an MCP server",
};

/** The name of a step in its row. */
export function nameOf(step: TimelineStep): string {
  const { span, inner } = step;
  switch (span.kind) {
    case "run":
      return "Run";
    case "queue":
      return "Queued";
    case "recovery":
      return "Interruption";
    case "turn": {
      const agents = inner.flatMap(({ span: { agent } }) => (agent === null ? [] : [agent]));
      const names = [...new Set(agents)].map(visibleName).join(", ");
      return names === "" ? `Turn ${span.turn}` : `Turn ${span.turn}: ${names}`;
    }
    case "invoke_agent":
      return visibleName(span.agent ?? "agent");
    case "chat":
      return span.model === null ? "Model call" : visibleName(span.model);
    case "execute_tool":
      return visibleName(span.tool ?? "tool");
    case "step":
      return STEPS[span.name] ?? visibleName(span.name);
    case "wait":
      return span.agent === null ? "Waiting" : `Waiting for ${visibleName(span.agent)}`;
    case "attempt":
      return `Attempt ${span.name.replace(/\D+/g, "")}`;
    case "backoff":
      return isRateLimit(step) ? "Waits for the rate limit" : "Waits to try again";
  }
}

/** True if a model's server had refused the attempt before the wait because of a rate limit. */
function isRateLimit({ span, parent }: TimelineStep): boolean {
  const failed = parent?.inner.findLast(
    (one) => one.span.kind === "attempt" && one.span.ended_at === span.started_at,
  );
  return failed?.span.error_type?.includes("rate_limit") === true;
}

/** The agent whose colour a step has: that of an agent, or of a turn in which only one worked. */
export function agentOf({ span, inner }: TimelineStep): string | undefined {
  if (span.kind === "invoke_agent") return span.agent ?? undefined;
  if (span.kind !== "turn") return undefined;
  const agents = new Set(inner.flatMap((step) => step.span.agent ?? []));
  return agents.size === 1 ? [...agents][0] : undefined;
}

const KINDS: Readonly<Record<TimelineStep["span"]["kind"], string>> = {
  run: "run",
  queue: "queue",
  recovery: "interruption",
  turn: "turn",
  invoke_agent: "agent",
  chat: "model call",
  execute_tool: "tool call",
  step: "step",
  wait: "wait for a human",
  attempt: "attempt",
  backoff: "wait before the next attempt",
};

export function kindOf({ span }: TimelineStep): string {
  return span.kind === "attempt" && span.status === "error" ? "failed attempt" : KINDS[span.kind];
}

/** `3 attempts, recovered`; empty for a step that succeeded at once. */
export function marksOf({ span }: TimelineStep): string[] {
  const { attempts, recovered, discarded, status, error_type } = span;
  return [
    ...(status === "error" ? [visibleName(error_type ?? "failed")] : []),
    ...(status === "cancelled" ? ["cancelled"] : []),
    ...(attempts !== null && attempts > 1 ? [`${attempts} attempts`] : []),
    ...(recovered ? ["recovered"] : []),
    ...(discarded ? ["discarded"] : []),
  ];
}

/** A step's bar in words. @param start when the run began @param now the end of an active step */
export function sentenceOf(step: TimelineStep, start: number, now: number): string {
  const { span, tokens, cost } = step;
  const took = durationOf((step.end ?? now) - step.start);
  const parts = [
    `${kindOf(step)}, starts after ${durationOf(step.start - start)}`,
    span.status === "running" ? `has taken ${took} so far` : `took ${took}`,
    ...(tokens > 0 ? [`${shortNumber(tokens)} tokens`] : []),
    ...(cost === null ? [] : [`cost ${costOf(cost)}`]),
    ...marksOf(step),
  ];
  return parts.join(", ");
}
