import { loadTask } from "../core/messages/load-task.ts";
import { hashId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { ChatMessage, Message } from "../core/messages/message.ts";
import type { HumanRequest, Result, RunInfo, RunPage, StartRunInput } from "../core/run/gateway.ts";
import { ActiveRun, runInfo } from "./active-run.ts";
import { parseAnswer } from "./answer.ts";
import type { Driver } from "./driver.ts";
import { humanRequest } from "./question-store.ts";
import { MOST_PAGE_BYTES } from "./page.ts";
import { ok, refuse, refuseInput } from "./refusal.ts";
import { isOver, type RunRecord, type StoredRun, turnId } from "./run-store.ts";
import { lastTurn } from "./heads.ts";
import type { Stores } from "./stores.ts";

/** Above this a run is shown without its messages. */
const LARGEST_RESULT_BYTES = 1_000_000;

/** What can be asked about runs and done to them. What changes one is synchronous: it happens, durably, or it does not. */
export class RunService {
  readonly #stores: Stores;
  readonly #driver: Driver;

  constructor(stores: Stores, driver: Driver) {
    this.#stores = stores;
    this.#driver = driver;
  }

  start(input: StartRunInput): Result<RunInfo & { created: boolean }> {
    const { db } = this.#stores;
    const { idempotency } = input;
    if (idempotency) {
      const earlier = db.first<{ hash: string; run: string }>(
        "select hash, run from idempotency where key = ?",
        idempotency.key,
      );
      if (earlier) {
        if (earlier.hash !== idempotency.hash) return idempotencyMismatch();
        return this.shown(earlier.run, { created: false });
      }
    }
    const id = crypto.randomUUID();
    const created_at = new Date().toISOString();
    let task: ChatMessage[] | null;
    try {
      let count = 0;
      task = loadTask(input.task, {
        id: () => hashId(`${id}/task#${count++}`),
        now: () => created_at,
      });
    } catch (error) {
      return refuseInput(error);
    }
    const busy = this.#driver.active;
    if (busy && input.on_conflict === "reject") return teamBusy(busy.record.id);
    if (busy) this.#driver.end({ status: "cancelled" });
    const record: RunRecord = {
      ...blank(id, created_at, lastTurn(db)),
      output_task_messages: input.output_task_messages,
      metadata: input.metadata,
      timeout_seconds: input.timeout_seconds,
      max_total_tokens: input.max_total_tokens,
      epoch: this.#stores.team.record.epoch,
      first_event: this.#stores.log.last,
    };
    const stored = this.#stores.transaction(() => {
      this.#stores.steps.clear();
      if (idempotency) {
        const { key, hash } = idempotency;
        db.write("insert into idempotency values (?, ?, ?)", key, hash, id);
      }
      return this.#stores.runs.insert(record, task);
    });
    this.#driver.start(new ActiveRun(this.#stores, stored));
    return this.shown(id, { created: true });
  }

  /** Starts a run that takes over what the team's last run had recorded when it failed or was cancelled. */
  retry(id: string): Result<RunInfo> {
    const { db, runs, log, steps, team } = this.#stores;
    const failed = runs.byId(id);
    if (!failed) return runNotFound();
    const { record } = failed;
    const latest = runs.last();
    if (latest?.seq !== failed.seq) {
      return refuse(409, "not_latest_run", "Only the team's latest run can be retried.");
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
    const retryId = crypto.randomUUID();
    const { started, event } = record.last_turn ?? {
      started: record.first_moment,
      event: record.first_event,
    };
    const ran = Math.max(started.ran, steps.ran);
    const stored = runs.insert(
      {
        ...blank(retryId, new Date().toISOString(), lastTurn(db)),
        output_task_messages: record.output_task_messages,
        metadata: record.metadata,
        timeout_seconds: record.timeout_seconds,
        max_total_tokens: record.max_total_tokens,
        retry_of: id,
        first_turn: record.next_turn,
        next_turn: record.next_turn,
        first_turn_id: turnId(record, record.next_turn),
        first_moment: started,
        taken_over: { after: event, up_to: log.last },
        ran_before: ran,
        ran,
        epoch: record.epoch,
        first_event: log.last,
      },
      runs.task(failed.seq),
    );
    this.#driver.start(new ActiveRun(this.#stores, stored));
    return this.shown(retryId, {});
  }

  /** `atOnce` resolves when a run that is in no turn has ended; undefined for others. */
  stop(
    id: string,
    mode: "after_turn" | "now",
  ): Result<{ repeated: boolean; atOnce: Promise<void> | undefined }> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const active = this.#activeAs(id);
    if (!active) {
      if (run.record.stop_requested === mode) return ok({ repeated: true, atOnce: undefined });
      return runEnded(run);
    }
    const { record } = active;
    const repeated = record.stop_requested === mode;
    record.stop_requested = mode;
    if (mode === "after_turn") return ok({ repeated, atOnce: this.#driver.stop(active) });
    this.#driver.end({ status: "cancelled" });
    return ok({ repeated, atOnce: undefined });
  }

  pause(id: string): Result<RunInfo> {
    return this.#withActive(id, (active) => {
      if (!active.record.pause_requested) this.#driver.pause(active);
    });
  }

  resume(id: string): Result<RunInfo> {
    return this.#withActive(id, (active) => {
      if (active.record.pause_requested) this.#driver.resume(active);
    });
  }

  requests(id: string): Result<HumanRequest[]> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok(this.#stores.questions.open(id).map(humanRequest));
  }

  answer(id: string, request: string, input: JsonObject): Result<RunInfo> {
    const { runs, questions } = this.#stores;
    const run = runs.byId(id);
    if (!run) return runNotFound();
    const question = questions.get(request);
    // An answer may have been given to the run that this one repeats; an open question belongs to its run alone.
    if (!question || (question.run !== id && !question.answer)) {
      if (isOver(run.record)) return runEnded(run);
      return refuse(404, "request_not_found", "The run has no such request.");
    }
    let answer;
    try {
      answer = parseAnswer(question.question, input);
    } catch (error) {
      return refuseInput(error);
    }
    if (question.answer) {
      if (question.answer.text === JSON.stringify(answer)) return this.shown(id, {});
      return refuse(409, "already_answered", "The request was answered before, and differently.");
    }
    questions.answer(request, answer, Date.now());
    this.#driver.answered();
    return this.shown(id, {});
  }

  /** One run with its result. */
  run(id: string): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok({ ...this.#info(run), result: this.#result(run.record) });
  }

  page({ cursor, limit }: { cursor?: string; limit: number }): Result<RunPage> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    if (!Number.isSafeInteger(before)) {
      const message = "must be a next_cursor of an earlier answer";
      const errors = [{ path: "cursor", message }];
      const detail = `cursor ${message}.`;
      return { ok: false, problem: { status: 422, code: "invalid_cursor", detail, errors } };
    }
    const found = this.#stores.runs.page(before, limit + 1);
    const shown: StoredRun[] = [];
    let bytes = 0;
    for (const run of found.slice(0, limit)) {
      bytes += this.#stores.runs.taskSize(run.seq);
      if (shown.length > 0 && bytes > MOST_PAGE_BYTES) break;
      shown.push(run);
    }
    const last = shown.at(-1);
    return ok({
      runs: shown.map((run) => this.#info(run)),
      next_cursor: found.length > shown.length && last ? String(last.seq) : null,
    });
  }

  /** Resolves when the run is over, waits for a human or is paused, or after `timeoutMs`. */
  async wait(id: string, timeoutMs: number): Promise<void> {
    if (this.#activeAs(id)) await this.#driver.untilRest(timeoutMs);
  }

  #withActive(id: string, change: (active: ActiveRun) => void): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const active = this.#activeAs(id);
    if (!active) return runEnded(run);
    change(active);
    return this.shown(id, {});
  }

  #activeAs(id: string): ActiveRun | undefined {
    const { active } = this.#driver;
    return active?.record.id === id ? active : undefined;
  }

  /** The run without its result, and what else there is to say. */
  shown<T extends object>(id: string, more: T): Result<RunInfo & T> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok({ ...this.#info(run), ...more });
  }

  #info(run: StoredRun): RunInfo {
    return this.#activeAs(run.record.id)?.info() ?? runInfo(this.#stores, run);
  }

  #result(record: RunRecord): RunInfo["result"] {
    if (record.status !== "completed" || record.last_event === null) return null;
    const messages: Message[] = [];
    let size = 0;
    for (const message of this.#stores.log.result(record.first_event, record.last_event)) {
      size += message.bytes;
      if (size > LARGEST_RESULT_BYTES) return null;
      messages.push(message.read());
    }
    return { stop_reason: record.stop_reason, messages };
  }
}

function blank(
  id: string,
  createdAt: string,
  turn: number,
): Omit<RunRecord, "first_event" | "epoch"> {
  return {
    id,
    status: "running",
    output_task_messages: true,
    metadata: {},
    timeout_seconds: null,
    max_total_tokens: null,
    retry_of: null,
    first_turn: 0,
    first_turn_id: `${id}/0`,
    first_moment: { at: Date.parse(createdAt), ran: 0 },
    taken_over: null,
    last_event: null,
    next_turn: 0,
    turn,
    last_turn: null,
    ran_before: 0,
    ran: 0,
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    stop_requested: null,
    pause_requested: false,
    resuming: false,
    wake_at: null,
    rest_since: null,
    recoveries: 0,
    recovery_mark: null,
    stop_reason: null,
    error: null,
    created_at: createdAt,
    started_at: createdAt,
    ended_at: null,
  };
}

export function runNotFound(): ReturnType<typeof refuse> {
  return refuse(404, "run_not_found", "The team has no such run.");
}

export function teamBusy(run: string): ReturnType<typeof refuse> {
  return refuse(409, "team_busy", "The team has an active run.", { run_id: run });
}

export function idempotencyMismatch(): ReturnType<typeof refuse> {
  return refuse(
    422,
    "idempotency_mismatch",
    "The Idempotency-Key was used before with another body.",
  );
}

function runEnded({ record }: StoredRun): ReturnType<typeof refuse> {
  return refuse(409, "run_ended", `The run is ${record.status}.`);
}
