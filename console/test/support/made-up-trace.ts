import type { RunTrace, TraceSpan } from "troupe/client";

const START = Date.parse("2026-11-20T08:00:00.000Z");
const DAYS_MS = 3 * 24 * 3_600_000;
/** The parts of a turn: a model call, and idle time. */
const CALL_MS = 1_000;
/** Turns without a wait between them. */
const IN_A_ROW = 670;

const SPAN: TraceSpan = {
  span_id: "",
  parent_span_id: null,
  kind: "run",
  name: "run",
  status: "ok",
  error_type: null,
  started_at: "",
  ended_at: null,
  duration_ms: null,
  turn: null,
  path: null,
  attempts: null,
  recovered: false,
  discarded: false,
  agent: null,
  tool: null,
  provider: null,
  model: null,
  usage: null,
  cost: null,
};

/**
 * A page of the trace of a run of three days: turns of an agent `a`, each with a model call of a second, after each few hundred a
 * wait of hours.
 */
export function madeUpTrace(
  team: string,
  run: string,
  turns: number,
  after: number,
  limit: number,
): RunTrace {
  const last = Math.min(turns, after + limit);
  const spans: TraceSpan[] = after === 0 ? [span("0", null, 0, DAYS_MS)] : [];
  const rest = (DAYS_MS - turns * CALL_MS) / (turns / IN_A_ROW);
  for (let turn = after + 1; turn <= last; turn++) {
    const start = (turn - 1) * CALL_MS + Math.floor((turn - 1) / IN_A_ROW) * rest;
    const one = (id: string, parent: string): TraceSpan =>
      span(`${turn}${id}`, parent, start, start + CALL_MS);
    const agent = { turn, agent: "a", path: "speaker:a" };
    const call = { model: "gpt", usage: { prompt_tokens: 5, completion_tokens: 2 }, attempts: 1 };
    spans.push(
      { ...one("0", "0"), turn, kind: "turn" },
      { ...one("1", `${turn}0`), ...agent, kind: "invoke_agent" },
      { ...one("2", `${turn}1`), ...agent, ...call, path: "speaker:a/model:0", kind: "chat" },
    );
  }
  return {
    run_id: run,
    team_id: team,
    trace_id: "0".repeat(32),
    spans,
    dropped_spans: 0,
    next_cursor: last < turns ? String(last) : null,
  };
}

function span(id: string, parent: string | null, start: number, end: number): TraceSpan {
  return {
    ...SPAN,
    span_id: idOf(id),
    parent_span_id: parent === null ? null : idOf(parent),
    started_at: new Date(START + start).toISOString(),
    ended_at: new Date(START + end).toISOString(),
    duration_ms: end - start,
  };
}

function idOf(id: string): string {
  return id.padStart(16, "f");
}
