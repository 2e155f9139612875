import type { FailureGroup } from "troupe/client";
import { reasonOf } from "../runs/failure-words.ts";

/** Names a group among the others. */
export function keyOfGroup({ error, message, agent, component_version }: FailureGroup): string {
  return JSON.stringify([error, message, agent, component_version]);
}

/** The reason of all failures of a group, without a number that was left out before its first word. */
export function reasonOfGroup({ error, message, agent }: FailureGroup): string {
  return reasonOf({ type: error, message: message.replace(/^…\s+/, ""), agent });
}

/** The address of the failed runs with the same type of error. @param since the first day; undefined for all */
export function runsOfError(error: string, since: string | undefined): string {
  const filter = { status: "failed", error, ...(since !== undefined && { from: since }) };
  return `/runs?${new URLSearchParams(filter)}`;
}
