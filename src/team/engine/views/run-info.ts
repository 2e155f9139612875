import { beginningOf } from "../../../core/cut.ts";
import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import type { ActivityFrame } from "../../../contract/stream/stream-frame.ts";
import { totalCost } from "../../../contract/usage/model-usage.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import { type RunContext, runContext } from "../../../core/turn/run-context.ts";
import type { ModelCallUnderWay } from "../../../core/turn/turn-host.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import { isOver } from "../../storage/runs/run-store.ts";
import type { Stores } from "../../storage/stores.ts";
import type { RunInView } from "./run-in-view.ts";

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
    requests: isOver(record) ? [] : openRequests(stores, run),
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

/** The caller and the purpose of a run, as its tools and agents see them. */
export function runContextOf(record: StoredRun["record"], { team }: Stores): RunContext {
  const { id, tenant } = team.record;
  return runContext({ ...record, team: id, tenant });
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

type RequestContext = HumanRequest["context"];

/** Every frame that shows the run carries its open requests. */
const MOST_MESSAGES = 20;
const MOST_CHARACTERS = 32_000;
/** A shorter remainder of a text is not worth sending. */
const LEAST_CHARACTERS = 200;

/** The run's open questions as the API shows them, with the messages before them. */
export function openRequests(stores: Stores, { record }: StoredRun): HumanRequest[] {
  const open = stores.questions.open(record.id);
  if (open.length === 0) return [];
  const context = contextOf(stores, record);
  return open.map((question) => humanRequest(question, context));
}

function humanRequest(
  { question, createdAt, expiresAt }: StoredQuestion,
  context: RequestContext,
): HumanRequest {
  const { timeout_seconds: _timeout, default_answer: _default, login, ...shown } = question;
  return {
    ...shown,
    ...(login && { login: { server: login.server, user: login.user } }),
    context,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** The last messages of the run and of the runs that it retries, as many as fit. */
function contextOf({ runs, log }: Stores, record: StoredRun["record"]): RequestContext {
  let first = record;
  while (first.retry_of !== null) {
    const retried = runs.byId(first.retry_of);
    if (retried === undefined) break;
    first = retried.record;
  }
  const messages: Message[] = [];
  let truncated = false;
  let room = MOST_CHARACTERS;
  for (const said of log.backwards(first.first_event)) {
    if (messages.length === MOST_MESSAGES || room < LEAST_CHARACTERS) {
      truncated = true;
      break;
    }
    const { size } = said;
    const message = size <= room ? said.read() : shortened(said.read(), room);
    if (size > room) truncated = true;
    // The request itself contains more.
    if (message === undefined || message.type === "UserInputRequestedEvent") continue;
    messages.push(message);
    room -= Math.min(size, room);
  }
  return { messages: messages.toReversed(), truncated };
}

/** The message with its text truncated; undefined for other contents, which cannot be truncated. */
function shortened(message: Message, room: number): Message | undefined {
  if (!("content" in message) || typeof message.content !== "string") return undefined;
  return { ...message, content: `${beginningOf(message.content, room - 1)}…` } as Message;
}
