import type { NotedTeam, RunInfo } from "troupe/client";

/**
 * The usage of all runs of a team: its numbers when it was loaded, and the usage of its run since. @param since the run as it
 * was then
 */
export function totalOf(
  info: Pick<NotedTeam, "usage" | "cost">,
  run: RunInfo | null,
  since: RunInfo | null,
): Pick<NotedTeam, "usage" | "cost"> {
  // The team was loaded before its run was known: it is loaded again.
  const now = since === null ? null : run;
  const before = now?.id === since?.id ? since : null;
  const more = (name: "prompt_tokens" | "completion_tokens"): number =>
    Math.max(0, (now?.usage[name] ?? 0) - (before?.usage[name] ?? 0));
  const cost = Math.max(0, (now?.cost ?? 0) - (before?.cost ?? 0));
  return {
    usage: {
      prompt_tokens: info.usage.prompt_tokens + more("prompt_tokens"),
      completion_tokens: info.usage.completion_tokens + more("completion_tokens"),
    },
    cost: info.cost === null && cost === 0 ? null : (info.cost ?? 0) + cost,
  };
}
