import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import type { ActivityFrame } from "../../../contract/stream/stream-frame.ts";
import { totalCost } from "../../../contract/usage/model-usage.ts";
import type { ChatMessage } from "../../../core/messages/message.ts";
import type { ModelCallUnderWay } from "../../../core/turn/turn-host.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";
import type { RunInView } from "./run-in-view.ts";
import { shownRequests } from "./shown-requests.ts";

/** The run's open questions as the API shows them: most runs have none. */
export function openRequests(stores: Stores, record: StoredRun["record"]): HumanRequest[] {
  const open = stores.questions.open(record.id);
  return open.length === 0 ? [] : shownRequests(stores, record, open);
}

/** A run as the API shows it, without its result. */
export function runInfo(
  stores: Stores,
  run: StoredRun,
  task: readonly ChatMessage[] | null = stores.runs.task(run),
): RunInfo {
  const { team } = stores;
  const { record } = run;
  return {
    id: record.id,
    team_id: team.record.id,
    status: record.status,
    queue_position: record.status === "queued" ? stores.queue.position(record.id) : null,
    component_version: record.component_version ?? null,
    task: task as ChatMessage[] | null,
    stop_reason: record.stop_reason,
    error: record.error && {
      agent: null,
      turn: null,
      step: null,
      attempts: null,
      ...record.error,
    },
    usage: record.usage,
    cost: totalCost(record.models ?? {}),
    models: record.models ?? {},
    turns: Math.max(0, record.next_turn - Math.max(1, record.first_turn)),
    turn: record.turn,
    requests: openRequests(stores, record),
    ...(record.notes && { notes: record.notes }),
    pause_requested: record.pause_requested,
    stop_requested: record.stop_requested,
    retry_of: record.retry_of,
    ...(record.user !== undefined && { user: record.user }),
    ...(record.subject !== undefined && { subject: record.subject }),
    metadata: record.metadata,
    created_at: record.created_at,
    next_attempt_at: record.wake_at === null ? null : new Date(record.wake_at).toISOString(),
    started_at: record.started_at,
    ended_at: record.ended_at,
  };
}

/** The steps under way, as streams show them. */
export function activityOf({ record, trace, calls }: RunInView): ActivityFrame {
  const steps = record.status === "running" ? (trace?.underWay() ?? []) : [];
  return {
    run_id: record.id,
    at: new Date().toISOString(),
    steps: steps.map(({ path, agent, kind, subject, attempt, start, failure, nextAt }) => ({
      agent,
      step: path,
      kind: kind === "model" ? "chat" : kind === "tool" ? "execute_tool" : "step",
      name: subject?.name ?? null,
      call_id: subject?.call ?? null,
      attempt,
      started_at: new Date(start).toISOString(),
      error: failure ?? null,
      next_attempt_at: nextAt === null ? null : new Date(nextAt).toISOString(),
      message_id: messageOf(calls.get(path)),
    })),
  };
}

/** The message that a model writes, where it can do nothing else. */
function messageOf(call: ModelCallUnderWay | undefined): string | null {
  return call?.isAnswer === true ? (call.messageId ?? null) : null;
}
