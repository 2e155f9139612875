import type { JsonObject, Message } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { NEVER_TOOL } from "../worker/names.ts";
import type { Frame } from "./sse-client.ts";
import type { StreamRecord } from "./stream-record.ts";
import type { Outcome } from "./trial.ts";

/** Steps that a run may leave out or repeat depend on chance; everything else must be as if nothing had happened. */
export function check(scenario: Scenario, outcome: Outcome, reference: Outcome): string[] {
  const { run, messages, replay, seen, rows, repeated } = outcome;
  const unknown = isOutcomeUnknown(messages);
  const started = scenario.fails === undefined ? 1 : 2;
  return [
    ...outcome.problems,
    ...repeated,
    ...replay.problems.map((text) => `replay ${text}`),
    ...seen.problems,
    ...checkEnd(scenario, outcome),
    ...checkLog(scenario, outcome, reference, unknown),
    ...differences(
      "the thread and the log",
      threadItems(replay).map(exactly),
      messages.slice(outcome.before).map(exactly),
    ),
    ...differences(
      "what the client got and the log",
      seen.recorded.map(exactly),
      replay.recorded.map(exactly),
    ),
    ...(unknown || scenario.stop !== undefined || run.status !== "completed"
      ? []
      : [
          ...differences("the state", lines(reference.state), lines(outcome.state)),
          ...differences("usage", lines(reported(reference.run)), lines(reported(run))),
        ]),
    ...checkNever(outcome),
    ...checkRefusals(outcome),
    // A retry would take over the steps of a run that was cancelled or failed.
    ...(rows.step === 0 || run.status !== "completed"
      ? []
      : [`${rows.step} steps are left after the end`]),
    ...(rows.run === started ? [] : [`there are ${rows.run} runs, ${started} were started`]),
  ];
}

/** Whether a tool was interrupted that must not be repeated: what the model reads then differs. */
export function isOutcomeUnknown(messages: readonly Message[]): boolean {
  return JSON.stringify(messages).includes("outcome is unknown");
}

function checkEnd({ stop }: Scenario, { run, replay, seen }: Outcome): string[] {
  const allowed = stop?.mode === "now" ? ["cancelled", "completed"] : ["completed"];
  const problems: string[] = [];
  if (!allowed.includes(run.status))
    problems.push(`the run is ${run.status}: ${JSON.stringify(run.error)}`);
  if (!replay.ended) problems.push("the replay has no terminal frame");
  if (!seen.ended) problems.push("the client got no terminal frame");
  return problems;
}

/** The model's server refuses what is not as its maker gave it. A refusal that a rule asks for has its name. */
function checkRefusals({ requests }: Outcome): string[] {
  return requests
    .filter(({ status, rule }) => rule === null && status !== null && status >= 400)
    .map(({ path, status, index }) => `request ${index} to ${path} was refused with ${status}`);
}

/** The conversation must be that of the run without faults; one that was stopped is the beginning of it. */
function checkLog(
  { stop, sideBySide = false }: Scenario,
  { messages, state }: Outcome,
  reference: Outcome,
  unknown: boolean,
): string[] {
  const shape = unknown ? outline : content;
  const inOrder = sideBySide ? bySource : (items: readonly Message[]) => items;
  const actual = inOrder(messages).map(shape);
  const expected = inOrder(reference.messages).map(shape);
  if (stop !== undefined) {
    expected.length = Math.min(expected.length, actual.length);
    const thread = threadOf(state).map(({ id }) => exactly(id));
    const log = messages.map(({ id }) => exactly(id));
    return [
      ...differences("the conversation", expected, actual),
      ...differences("the team's thread and the log", thread, log),
    ];
  }
  return differences("the conversation", expected, actual);
}

/** Items of concurrent speakers may interleave in any order. */
function bySource(messages: readonly Message[]): Message[] {
  return messages.toSorted((a, b) => (a.source < b.source ? -1 : Number(a.source > b.source)));
}

/** What the team itself remembers was said. */
function threadOf(state: JsonObject): JsonObject[] {
  const states = Object.values((state.agent_states ?? {}) as Record<string, JsonObject>);
  return states.flatMap(({ message_thread }) => (message_thread ?? []) as JsonObject[]);
}

/** Effects that must not be repeated. */
function checkNever({ effects }: Outcome): string[] {
  const keys = effects.filter(({ name }) => name === NEVER_TOOL).map(({ key }) => key);
  return keys
    .filter((key, index) => keys.indexOf(key) !== index)
    .map((key) => `the tool that must never be repeated was called again under ${key}`);
}

/** Recorded items that were not retracted. */
function threadItems({ recorded }: StreamRecord): Frame["data"][] {
  const retracted = new Set(
    recorded
      .filter(({ event }) => event === "retract")
      .flatMap(({ data }) => data.message_ids as string[]),
  );
  return recorded
    .filter(({ event, data }) => event === undefined && data.type !== "TaskResult")
    .map(({ data }) => data)
    .filter(({ id }) => !retracted.has(String(id)));
}

function exactly(value: unknown): string {
  return JSON.stringify(value);
}

/** Without what differs from run to run. */
function content(message: Message): string {
  return JSON.stringify(message, withoutChance);
}

function lines(value: unknown): string[] {
  return (JSON.stringify(value, withoutChance, 1) ?? "").split("\n");
}

/** Ids of messages and requests are made from the run's, which is drawn by lot; those of tool calls are the model's. */
function withoutChance(key: string, value: unknown): unknown {
  if (key === "id") return typeof value === "string" && value.startsWith("call_") ? value : "id";
  // A server that is not a maker's is known by its address, which is another one in each trial.
  if (key === "maker") return String(value).replace(/:\d+$/, "");
  return key === "created_at" || key === "request_id" ? key : value;
}

function outline({ type, source }: Message): string {
  return `${type} of ${source}`;
}

function differences(
  what: string,
  expected: readonly string[],
  actual: readonly string[],
): string[] {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    if (expected[index] === actual[index]) continue;
    return [
      `${what} differ at ${index} of ${expected.length}/${actual.length}: expected ${expected[index]?.slice(0, 300) ?? "nothing"}, got ${actual[index]?.slice(0, 300) ?? "nothing"}`,
    ];
  }
  return [];
}

/** The tokens that models have reported: an attempt whose answer broke off adds an estimate. */
function reported({ usage }: RunInfo): number {
  return usage.prompt_tokens + usage.completion_tokens - (usage.estimated_tokens ?? 0);
}
