import { hashId } from "../../core/ids.ts";
import { createMessage } from "../../core/messages/create.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { Idempotency, StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { Result } from "../../contract/result.ts";
import { NO_USAGE } from "../../contract/usage/model-usage.ts";
import type { RunController } from "./run-controller.ts";
import {
  idempotencyMismatch,
  runNotFound,
  teamBusy,
  tooManyQueuedRuns,
} from "../object/refusals.ts";
import { ok, refuse } from "../../contract/result.ts";
import { MAX_QUEUED_RUNS } from "../../contract/constants.ts";
import { startedNow } from "./queued-runs.ts";
import { type RunRecord, type StoredRun, turnId } from "../storage/runs/run-store.ts";
import { lastTurn } from "../storage/commits.ts";
import type { Stores } from "../storage/stores.ts";

/**
 * Starts or queues runs with a task, and starts runs with the recorded steps of a failed one. Synchronous, so each is stored
 * whole or not at all.
 */
export class RunStarter {
  readonly #stores: Stores;
  readonly #controller: RunController;

  constructor(stores: Stores, controller: RunController) {
    this.#stores = stores;
    this.#controller = controller;
  }

  /** Whether {@link start} would start or queue a run, and beside which; undefined when it answers without. */
  starts({ idempotency, on_conflict }: StartRunInput): "alone" | "beside" | undefined {
    if (this.#startedBy(idempotency) || !this.#resolve(on_conflict).ok) return undefined;
    return this.#controller.occupant ? "beside" : "alone";
  }

  /** Whether {@link retry} would start a run. */
  retries(id: string, idempotency?: Idempotency): boolean {
    const retryable = this.#retryable(id, idempotency);
    return retryable.ok && typeof retryable.value !== "string";
  }

  /** `created` is false when an idempotency key named an earlier run. */
  start(input: StartRunInput): Result<{ id: string; created: boolean }> {
    const { idempotency, on_conflict } = input;
    const earlier = this.#startedBy(idempotency);
    if (earlier) return earlier.ok ? ok({ id: earlier.value, created: false }) : earlier;
    const resolved = this.#resolve(on_conflict);
    if (!resolved.ok) return resolved;
    const id = crypto.randomUUID();
    const created_at = new Date().toISOString();
    const record: RunRecord = {
      ...blank(id, created_at),
      output_task_messages: input.output_task_messages,
      metadata: input.metadata,
      timeout_seconds: input.timeout_seconds,
      max_total_tokens: input.max_total_tokens,
      max_cost: input.max_cost,
      webhook: input.webhook,
      ...(input.push && { push: [input.push] }),
      ...(input.tools?.length && { tools: input.tools }),
      ...(input.answer_form && { answer_form: input.answer_form }),
      ...(input.trace && { trace: { after: 0, context: input.trace } }),
    };
    const task = taskMessages(input.task, id, created_at);
    if (resolved.value === "queue") this.#queue(record, task, idempotency);
    else this.#start(record, task, idempotency);
    return ok({ id, created: true });
  }

  /** What a new run does in the present state of the team. */
  #resolve(onConflict: StartRunInput["on_conflict"]): Result<"start" | "queue"> {
    const { occupant } = this.#controller;
    if (occupant === undefined || onConflict === "interrupt") return ok("start");
    if (onConflict === "reject") return teamBusy(occupant.id);
    return this.#stores.queue.size < MAX_QUEUED_RUNS ? ok("queue") : tooManyQueuedRuns();
  }

  #start(
    record: RunRecord,
    task: ChatMessage[] | null,
    idempotency: Idempotency | undefined,
  ): void {
    const stores = this.#stores;
    if (this.#controller.active) this.#controller.preempt();
    const stored = stores.transaction(() => {
      stores.steps.clear();
      this.#remember(idempotency, record.id);
      return stores.runs.insert(startedNow(record, stores, record.created_at), task);
    });
    this.#controller.start(stored, task);
  }

  #queue(
    record: RunRecord,
    task: ChatMessage[] | null,
    idempotency: Idempotency | undefined,
  ): void {
    const queued = { ...record, turn: lastTurn(this.#stores.db) };
    this.#stores.transaction(() => {
      this.#remember(idempotency, queued.id);
      this.#stores.queue.add(queued, task);
      this.#stores.announcer.run(queued);
    });
    this.#controller.queued.added(queued, task);
  }

  /**
   * Starts a run that takes over what the team's last run had recorded when it failed or was cancelled. The same request
   * again gets the run it has started: by its key or, without one, as long as no other run has begun.
   */
  retry(id: string, idempotency?: Idempotency): Result<string> {
    const { runs, steps } = this.#stores;
    const retryable = this.#retryable(id, idempotency);
    if (!retryable.ok) return retryable;
    if (typeof retryable.value === "string") return ok(retryable.value);
    const failed = retryable.value;
    const { record } = failed;
    const retryId = crypto.randomUUID();
    const created_at = new Date().toISOString();
    const started = record.last_turn?.started ?? record.first_moment;
    const ran = Math.max(started.ran, steps.ran);
    const task = runs.task(failed);
    const stored = this.#stores.transaction(() => {
      this.#remember(retryRequest(id, idempotency), retryId);
      return runs.insert(
        {
          ...startedNow(blank(retryId, created_at), this.#stores, created_at),
          output_task_messages: record.output_task_messages,
          metadata: record.metadata,
          timeout_seconds: record.timeout_seconds,
          max_total_tokens: record.max_total_tokens,
          max_cost: record.max_cost ?? null,
          webhook: record.webhook ?? null,
          ...(record.tools && { tools: record.tools }),
          ...(record.answer_form && { answer_form: record.answer_form }),
          retry_of: id,
          first_turn: record.next_turn,
          next_turn: record.next_turn,
          first_turn_id: turnId(record, record.next_turn),
          first_moment: started,
          taken_over: { tokens: steps.tokens },
          ran_before: ran,
          ran,
        },
        task,
      );
    });
    this.#controller.start(stored, task);
    return ok(retryId);
  }

  /** The run that a retry repeats, or the id of the run that this request has started before. */
  #retryable(id: string, idempotency: Idempotency | undefined): Result<StoredRun | string> {
    const { runs, team } = this.#stores;
    const failed = runs.byId(id);
    if (!failed) return runNotFound();
    const { record } = failed;
    const request = retryRequest(id, idempotency);
    const earlier = this.#startedBy(request);
    if (earlier) return earlier;
    if (failed.seq === 0) {
      return refuse(
        409,
        "not_retryable",
        `The run is ${record.status} and was not started; start a new run with its task.`,
      );
    }
    const latest = runs.last();
    if (latest?.record.retry_of === id && request === undefined) return ok(latest.record.id);
    if (latest?.seq !== failed.seq) {
      return refuse(
        409,
        "not_latest_run",
        `Only the team's latest run can be retried; that is "${latest?.record.id}".`,
      );
    }
    if (record.status !== "failed" && record.status !== "cancelled") {
      return refuse(
        409,
        "not_retryable",
        `The run is ${record.status}; only a failed or cancelled one can be retried.`,
      );
    }
    if (record.epoch !== team.record.epoch) {
      return refuse(
        409,
        "not_retryable",
        "The team was reset or its state replaced since the run ended.",
      );
    }
    return ok(failed);
  }

  /** The run that this request has started before, or its refusal; undefined when it has not. */
  #startedBy(idempotency: Idempotency | undefined): Result<string> | undefined {
    if (idempotency === undefined) return undefined;
    const earlier = this.#stores.db.first<{ hash: string; run: string }>(
      "select hash, run from idempotency where key = ?",
      idempotency.key,
    );
    if (earlier === undefined) return undefined;
    return earlier.hash === idempotency.hash ? ok(earlier.run) : idempotencyMismatch();
  }

  #remember(idempotency: Idempotency | undefined, run: string): void {
    if (idempotency === undefined) return;
    const { key, hash } = idempotency;
    this.#stores.db.write("insert into idempotency values (?, ?, ?)", key, hash, run);
  }
}

/** The body is empty; the path tells a retry from the start of a run, which uses the same keys. */
function retryRequest(id: string, idempotency: Idempotency | undefined): Idempotency | undefined {
  return idempotency && { key: idempotency.key, hash: `retry ${id}` };
}

/** The Worker has checked the task; ids and times it lacks are the run's, so that a retry finds the same ones. */
function taskMessages(
  task: StartRunInput["task"],
  run: string,
  createdAt: string,
): ChatMessage[] | null {
  if (task === null) return null;
  let count = 0;
  const origin = { id: () => hashId(`${run}/task#${count++}`), now: () => createdAt };
  return task.map((message) => createMessage(origin, message as ChatMessage));
}

/** A run that has not started. */
function blank(id: string, createdAt: string): RunRecord {
  return {
    id,
    status: "queued",
    output_task_messages: true,
    metadata: {},
    timeout_seconds: null,
    max_total_tokens: null,
    max_cost: null,
    retry_of: null,
    first_turn: 0,
    first_turn_id: `${id}/0`,
    first_moment: { at: Date.parse(createdAt), ran: 0 },
    taken_over: null,
    epoch: 0,
    first_event: 0,
    last_event: null,
    next_turn: 0,
    turn: 0,
    last_turn: null,
    ran_before: 0,
    ran: 0,
    ...NO_USAGE,
    stop_requested: null,
    pause_requested: false,
    resuming: false,
    wake_at: null,
    rest_since: null,
    recoveries: 0,
    recovery_mark: null,
    stop_reason: null,
    error: null,
    webhook: null,
    created_at: createdAt,
    started_at: null,
    ended_at: null,
  };
}
