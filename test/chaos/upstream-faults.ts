import type { RuleInput } from "../support/fake-openai/rule.ts";
import type { Outcome } from "./harness/trial.ts";

/** A fault of the model server and the required outcome. */
export interface UpstreamFault {
  name: string;
  fault: NonNullable<RuleInput["fault"]>;
  /** How many requests meet it. Default 1. */
  times?: number;
  /** The `code` of the problem the run fails with; without it the run completes as if nothing had happened. */
  fails?: string;
  /** Text was shown before it went wrong: clients must learn that it is void. */
  discards?: boolean;
  /** Least milliseconds between the request that met the fault and the next. */
  pause?: number;
  /** Too slow for every day. */
  long?: boolean;
}

const status = (code: number, headers: Record<string, string> = {}) => ({
  kind: "status" as const,
  status: code,
  headers,
});

export const UPSTREAM_FAULTS: readonly UpstreamFault[] = [
  { name: "429 with Retry-After", fault: status(429, { "retry-after": "1" }), pause: 1000 },
  { name: "500", fault: status(500) },
  { name: "503 twice", fault: status(503), times: 2 },
  { name: "a stall before the answer", fault: { kind: "stall", after_chunks: 0 } },
  {
    name: "a stall in the middle",
    fault: { kind: "stall", after_chunks: 3 },
    discards: true,
  },
  { name: "no answer", fault: { kind: "cut", after_chunks: 0 } },
  {
    name: "a reset in the middle",
    fault: { kind: "cut", after_chunks: 3 },
    discards: true,
  },
  { name: "truncated JSON", fault: { kind: "truncated" }, discards: true },
  { name: "a web page", fault: { kind: "html" } },
  { name: "an empty answer", fault: { kind: "empty" } },
  {
    name: "a stream that just ends",
    fault: { kind: "unfinished", after_chunks: 3 },
    discards: true,
  },
  {
    name: "an error in the stream",
    fault: { kind: "error_event", after_chunks: 3 },
    discards: true,
  },
  { name: "401", fault: status(401), times: 1000, fails: "model_auth" },
  { name: "400", fault: status(400), times: 1000, fails: "model_bad_request" },
  { name: "500 for good", fault: status(500), times: 1000, fails: "model_server", long: true },
  {
    name: "429 with a long Retry-After",
    fault: status(429, { "retry-after": "33" }),
    pause: 33_000,
    long: true,
  },
];

/** The second agent meets the fault, so that clients are there by then. */
export function faultRule({ fault, times = 1 }: UpstreamFault): RuleInput {
  return { name: "fault", match: { system: "You are critic." }, fault, times, pace_ms: 5 };
}

/** Checks in addition to the invariants. */
export function checkFault(expected: UpstreamFault, { run, seen, requests }: Outcome): string[] {
  const problems: string[] = [];
  const met = requests.filter(({ rule }) => rule === "fault");
  if (met.length === 0) problems.push("no request met the fault");
  const { fails, discards = false, pause } = expected;
  if (fails !== undefined) {
    const last = seen.recorded.at(-1);
    if (run.status !== "failed" || run.error?.type !== fails)
      problems.push(`the run is ${run.status} with ${JSON.stringify(run.error)}, not ${fails}`);
    if (last?.event !== "failed" || last.data.code !== fails)
      problems.push(`the stream ended with ${JSON.stringify(last)}`);
  }
  if (seen.discards > 0 !== discards)
    problems.push(`${seen.discards} discard frames, ${discards ? "some" : "none"} expected`);
  const next = requests.find(({ index }) => index === (met.at(-1)?.index ?? 0) + 1);
  if (pause !== undefined && next !== undefined) {
    const waited = next.received_at - (met.at(-1)?.received_at ?? 0);
    if (waited < pause) problems.push(`the next request came after ${waited} ms, not ${pause}`);
  }
  return problems;
}
