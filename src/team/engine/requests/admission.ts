import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ChatMessage } from "../../../core/messages/message.ts";
import type { StartRunInput } from "../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../contract/common.ts";
import {
  idempotencyMismatch,
  ok,
  refuse,
  type Refused,
  refuseInput,
  type Result,
  runNotFound,
  teamBusy,
  tooManyQueuedRuns,
} from "../../../contract/result.ts";
import { sendsMetadata } from "../../../core/turn/context-reference.ts";
import type { RunEngine } from "../run-engine.ts";
import { MAX_QUEUED_RUNS } from "../../../contract/constants.ts";
import type { RunRecord, StoredRun } from "../../storage/runs/run-record.ts";
import type { RunSteering } from "./steering.ts";
import {
  type EnteringRun,
  presentOf,
  requestedRun,
  retryingRun,
  takenOver,
  taskMessages,
} from "../new-run.ts";
import { queued, started } from "../run-state.ts";
import type { Stores } from "../../storage/stores.ts";

/** Bytes of JSON of a run's metadata of which the team sends parts in headers. */
const MOST_METADATA_FOR_HEADERS = 4_096;

/** The decision about a request for a run. Made once, before the tenant is asked; the steps after it act on it. */
export type AdmissionDecision =
  /** An earlier request with the same key has started this run. */
  | { do: "replay"; run: string }
  /** The task is a message into this run. */
  | { do: "steer"; run: string }
  /** `beside`: the team has a run already, which this one follows or replaces. */
  | { do: "start" | "queue"; beside: boolean };

type TaskMessages = ChatMessage[] | null;

/** The decision about a request to retry a run. */
export type RetryAdmission = { do: "replay"; run: string } | { do: "retry"; failed: StoredRun };

/**
 * Decides whether a request replays a run, starts one, queues it or is refused, and inserts the run. Runs with a task are new; a
 * retry has the recorded steps of a failed run. Each is synchronous, and so stored completely or not at all.
 */
export class RunAdmission {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #steering: RunSteering;

  constructor(stores: Stores, engine: RunEngine, steering: RunSteering) {
    this.#stores = stores;
    this.#engine = engine;
    this.#steering = steering;
  }

  /**
   * Decides, and has the decision admitted. Changes of the team come one after the other, so the decision holds while the tenant is
   * asked; only a run that takes messages may end meanwhile.
   */
  async admit(
    input: StartRunInput,
    admit: (decided: Result<AdmissionDecision>) => Promise<Result<AdmissionDecision>>,
  ): Promise<Result<AdmissionDecision>> {
    for (;;) {
      if (input.on_conflict === "steer") await this.#steering.whenOpen();
      const admitted = await admit(this.decide(input));
      if (!admitted.ok || admitted.value.do !== "steer") return admitted;
      const { run } = admitted.value;
      const { active, occupant } = this.#engine;
      if (occupant?.id === run && active?.closing === undefined) return admitted;
    }
  }

  decide(input: StartRunInput): Result<AdmissionDecision> {
    const { idempotency, on_conflict, metadata } = input;
    const earlier = this.#startedBy(idempotency);
    if (earlier) return earlier.ok ? ok({ do: "replay", run: earlier.value }) : earlier;
    const tooLarge = this.#tooLargeForHeaders(metadata);
    if (tooLarge) return tooLarge;
    const { occupant } = this.#engine;
    if (occupant === undefined) return ok({ do: "start", beside: false });
    if (on_conflict === "interrupt") return ok({ do: "start", beside: true });
    if (on_conflict === "reject") return teamBusy(occupant.id);
    if (on_conflict === "steer") {
      // The message reaches the memories of the run's user.
      if (input.user !== undefined && input.user !== occupant.user) return teamBusy(occupant.id);
      return this.#steering.refuseAsRun(input) ?? ok({ do: "steer", run: occupant.id });
    }
    if (this.#stores.queue.size >= MAX_QUEUED_RUNS) return tooManyQueuedRuns();
    return ok({ do: "queue", beside: true });
  }

  /** Servers refuse requests whose headers are larger than they read, many from 8 KB on. */
  #tooLargeForHeaders(metadata: JsonObject): Refused | undefined {
    const size = new TextEncoder().encode(JSON.stringify(metadata)).length;
    if (size <= MOST_METADATA_FOR_HEADERS || !sendsMetadata(this.#stores.team.component)) {
      return undefined;
    }
    const message = `is ${size} bytes of JSON; at most ${MOST_METADATA_FOR_HEADERS} are allowed, because the team sends parts of it in headers (context:metadata.KEY)`;
    return refuseInput(
      new ValueError(`The metadata is too large for headers: it ${message}.`, {
        issues: [{ path: "metadata", message }],
      }),
    );
  }

  /** Inserts the run of a request as it was decided; the engine has to {@link RunEngine.enter} it in the same go. */
  insert(input: StartRunInput, admission: AdmissionDecision): EnteringRun {
    if (admission.do === "replay") return { do: "replay", id: admission.run };
    if (admission.do === "steer") {
      const { run: id } = admission;
      return { do: "steer", id, after: this.#steering.sendTask(id, input) ?? 0 };
    }
    const id = crypto.randomUUID();
    const created_at = new Date().toISOString();
    const record = requestedRun(id, created_at, input);
    const task = taskMessages(input.task, id, created_at);
    return admission.do === "queue"
      ? this.#queued(record, task, input.idempotency)
      : this.#started(record, task, input.idempotency);
  }

  #started(
    record: RunRecord,
    task: TaskMessages,
    idempotency: Idempotency | undefined,
  ): EnteringRun {
    const stores = this.#stores;
    if (this.#engine.active) this.#engine.preempt();
    const stored = stores.db.transaction(() => {
      stores.steps.clear();
      this.#remember(idempotency, record.id);
      const facts = { at: record.created_at, ...presentOf(stores) };
      return stores.runs.insert(started(record, facts), task);
    });
    return { do: "start", id: record.id, stored, task };
  }

  #queued(
    record: RunRecord,
    task: TaskMessages,
    idempotency: Idempotency | undefined,
  ): EnteringRun {
    const waiting = queued(record, this.#stores.commits.turn);
    this.#stores.db.transaction(() => {
      this.#remember(idempotency, waiting.id);
      this.#stores.queue.add(waiting, task);
      this.#stores.announcer.run({ seq: 0, record: waiting }, { task });
    });
    return { do: "queue", id: waiting.id, record: waiting, task };
  }

  /** The same for a run that takes over what the team's last run had recorded when it failed or was cancelled. */
  insertRetry(admission: RetryAdmission, idempotency?: Idempotency): EnteringRun {
    if (admission.do === "replay") return { do: "replay", id: admission.run };
    const { runs, steps } = this.#stores;
    const { failed } = admission;
    const { id } = failed.record;
    const { record } = failed;
    const retryId = crypto.randomUUID();
    const created_at = new Date().toISOString();
    const began = record.last_turn?.started ?? record.first_moment;
    const ran = Math.max(began.ran, steps.ran);
    const task = runs.task(failed);
    const stored = this.#stores.db.transaction(() => {
      this.#remember(retryRequest(id, idempotency), retryId);
      steps.forgetAttempts();
      const retry = retryingRun(retryId, created_at, record);
      const facts = { at: created_at, ...presentOf(this.#stores) };
      const from = { began, ran, tokens: steps.tokens };
      return runs.insert(takenOver(started(retry, facts), record, from), task);
    });
    return { do: "start", id: retryId, stored, task };
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
