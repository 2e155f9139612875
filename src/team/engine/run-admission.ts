import { hashId } from "../../core/hash.ts";
import { createMessage } from "../../core/messages/create.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../contract/common.ts";
import {
  idempotencyMismatch,
  ok,
  refuse,
  type Result,
  runNotFound,
  teamBusy,
  tooManyQueuedRuns,
} from "../../contract/result.ts";
import { NO_USAGE } from "../../contract/usage/model-usage.ts";
import type { RunEngine } from "./run-engine.ts";
import { MAX_QUEUED_RUNS } from "../../contract/constants.ts";
import type { RunRecord, StoredRun } from "../storage/runs/run-record.ts";
import { turnId } from "../storage/runs/run-store.ts";
import { lastTurn } from "../storage/commits.ts";
import type { Stores } from "../storage/stores.ts";

/** What a request for a run leads to. Decided once, before the tenant is asked; what follows acts on it. */
export type Admission =
  /** An earlier request with the same key has started this run. */
  | { do: "replay"; run: string }
  /** `beside`: the team has a run already, which this one follows or replaces. */
  | { do: "start" | "queue"; beside: boolean };

/** What a request to retry a run leads to. */
export type RetryAdmission = { do: "replay"; run: string } | { do: "retry"; failed: StoredRun };

/**
 * Decides whether a request replays a run, starts one, queues it or is refused, and carries that out. Runs with a task are
 * new; a retry has the recorded steps of a failed run. Each is synchronous, and so stored completely or not at all.
 */
export class RunAdmission {
  readonly #stores: Stores;
  readonly #engine: RunEngine;

  constructor(stores: Stores, engine: RunEngine) {
    this.#stores = stores;
    this.#engine = engine;
  }

  /** Changes of the team come one after the other, so the decision holds while the tenant is asked. */
  decide({ idempotency, on_conflict }: StartRunInput): Result<Admission> {
    const earlier = this.#startedBy(idempotency);
    if (earlier) return earlier.ok ? ok({ do: "replay", run: earlier.value }) : earlier;
    const { occupant } = this.#engine;
    if (occupant === undefined) return ok({ do: "start", beside: false });
    if (on_conflict === "interrupt") return ok({ do: "start", beside: true });
    if (on_conflict === "reject") return teamBusy(occupant.id);
    if (this.#stores.queue.size >= MAX_QUEUED_RUNS) return tooManyQueuedRuns();
    return ok({ do: "queue", beside: true });
  }

  /** Carries out what was decided. Returns the run's id, and whether it is new. */
  start(input: StartRunInput, admission: Admission): { id: string; created: boolean } {
    if (admission.do === "replay") return { id: admission.run, created: false };
    const { idempotency } = input;
    const id = crypto.randomUUID();
    const created_at = new Date().toISOString();
    const record: RunRecord = {
      ...blank(id, created_at),
      output_task_messages: input.output_task_messages,
      ...(input.user !== undefined && { user: input.user }),
      metadata: input.metadata,
      timeout_seconds: input.timeout_seconds,
      max_total_tokens: input.max_total_tokens,
      max_cost: input.max_cost,
      webhook: input.webhook,
      ...(input.push && { push: [input.push] }),
      ...(input.tools?.length && { tools: input.tools }),
      ...(input.state && { state: input.state }),
      ...(input.answer_form && { answer_form: input.answer_form }),
      ...(input.trace && { trace: { after: 0, context: input.trace } }),
    };
    const task = taskMessages(input.task, id, created_at);
    if (admission.do === "queue") this.#queue(record, task, idempotency);
    else this.#start(record, task, idempotency);
    return { id, created: true };
  }

  #start(
    record: RunRecord,
    task: ChatMessage[] | null,
    idempotency: Idempotency | undefined,
  ): void {
    const stores = this.#stores;
    if (this.#engine.active) this.#engine.preempt();
    const stored = stores.transaction(() => {
      stores.steps.clear();
      this.#remember(idempotency, record.id);
      return stores.runs.insert(startedNow(record, stores, record.created_at), task);
    });
    this.#engine.start(stored, task);
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
      this.#stores.announcer.run({ seq: 0, record: queued }, { task });
    });
    this.#engine.queued.added(queued, task);
    // The run before it may have ended since the decision.
    if (this.#engine.active === undefined) this.#engine.advance();
  }

  /** Starts a run that takes over what the team's last run had recorded when it failed or was cancelled. Returns its id. */
  retry(admission: RetryAdmission, idempotency?: Idempotency): string {
    if (admission.do === "replay") return admission.run;
    const { runs, steps } = this.#stores;
    const { failed } = admission;
    const { id } = failed.record;
    const { record } = failed;
    const retryId = crypto.randomUUID();
    const created_at = new Date().toISOString();
    const started = record.last_turn?.started ?? record.first_moment;
    const ran = Math.max(started.ran, steps.ran);
    const task = runs.task(failed);
    const stored = this.#stores.transaction(() => {
      this.#remember(retryRequest(id, idempotency), retryId);
      steps.forgetAttempts();
      return runs.insert(
        {
          ...startedNow(blank(retryId, created_at), this.#stores, created_at),
          output_task_messages: record.output_task_messages,
          ...(record.user !== undefined && { user: record.user }),
          metadata: record.metadata,
          timeout_seconds: record.timeout_seconds,
          max_total_tokens: record.max_total_tokens,
          max_cost: record.max_cost ?? null,
          webhook: record.webhook ?? null,
          ...(record.tools && { tools: record.tools }),
          ...(record.state && { state: record.state }),
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
    this.#engine.start(stored, task);
    return retryId;
  }

  /**
   * The same for a retry. The same request again gets the run it has started: by its key or, without one, as long as no
   * other run has started.
   */
  decideRetry(id: string, idempotency?: Idempotency): Result<RetryAdmission> {
    const { runs, team } = this.#stores;
    const failed = runs.byId(id);
    if (!failed) return runNotFound();
    const { record } = failed;
    const request = retryRequest(id, idempotency);
    const earlier = this.#startedBy(request);
    if (earlier) return earlier.ok ? ok({ do: "replay", run: earlier.value }) : earlier;
    if (failed.seq === 0) {
      return refuse(
        409,
        "not_retryable",
        `The run is ${record.status} and was not started; start a new run with its task.`,
      );
    }
    const latest = runs.last();
    if (latest?.record.retry_of === id && request === undefined) {
      return ok({ do: "replay", run: latest.record.id });
    }
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
    return ok({ do: "retry", failed });
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

/** The body is empty; the path distinguishes a retry from the start of a run, which uses the same keys. */
function retryRequest(id: string, idempotency: Idempotency | undefined): Idempotency | undefined {
  return idempotency && { key: idempotency.key, hash: `retry ${id}` };
}

/** The Worker has checked the task; ids and times it lacks are the run's, so that a retry finds the same ones. */
export function taskMessages(
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

/** The record of a run that starts now, with the present state of its team. @param now ISO 8601 UTC */
export function startedNow(record: RunRecord, { db, log, team }: Stores, now: string): RunRecord {
  const turn = lastTurn(db);
  return {
    ...record,
    status: "running",
    started_at: now,
    first_moment: { at: Date.parse(now), ran: 0 },
    turn,
    trace: { ...record.trace, after: turn },
    epoch: team.record.epoch,
    first_event: log.last,
  };
}
