import { PREVIEW_CHARACTERS } from "../../../contract/constants.ts";
import { beginningOf } from "../../../core/cut.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import { toText } from "../../../core/messages/views.ts";
import type { RunInfo, RunPage } from "../../../contract/run.ts";
import type { StartRunInput } from "../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../contract/common.ts";
import { runInfo } from "../views/run-info.ts";
import type { ActiveRun } from "../active-run.ts";
import type { RunEngine } from "../run-engine.ts";
import { MAX_PAGE_BYTES } from "../../../sqlite/page-limit.ts";
import {
  invalidCursor,
  ok,
  refuse,
  type Result,
  runEnded,
  runNotFound,
  runQueued,
} from "../../../contract/result.ts";
import type { AdmissionDecision, RetryAdmission, RunAdmission } from "./admission.ts";
import { type RunPosition, TOP } from "../../storage/runs/run-queue.ts";
import type { RunRecord, StoredRun } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";

/** A run with a larger result is shown without its messages. */
const LARGEST_RESULT_BYTES = 1_000_000;

interface RunPageQuery {
  cursor?: string | undefined;
  limit: number;
  task?: "preview" | undefined;
}

/** The run operations of the gateway besides questions. Changes are synchronous, so that each is stored as a whole or not at all. */
export class RunService {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #admission: RunAdmission;

  constructor(stores: Stores, engine: RunEngine, admission: RunAdmission) {
    this.#stores = stores;
    this.#engine = engine;
    this.#admission = admission;
  }

  start(
    input: StartRunInput,
    admission: AdmissionDecision,
  ): Result<RunInfo & { created: boolean }> {
    const run = this.#admission.insert(input, admission);
    this.#engine.enter(run);
    return this.infoWith(run.id, { created: run.do === "start" || run.do === "queue" });
  }

  retry(admission: RetryAdmission, idempotency?: Idempotency): Result<RunInfo> {
    const run = this.#admission.insertRetry(admission, idempotency);
    this.#engine.enter(run);
    return this.infoWith(run.id, {});
  }

  /** `atOnce` resolves when a run between two turns has ended; undefined for a run in the middle of one. */
  stop(
    id: string,
    mode: "after_turn" | "now",
  ): Result<{ repeated: boolean; atOnce: Promise<void> | undefined }> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const active = this.#activeAs(id);
    if (!active) {
      if (this.#engine.queued.cancel(id, mode)) return ok({ repeated: false, atOnce: undefined });
      if (run.record.stop_requested === mode) return ok({ repeated: true, atOnce: undefined });
      return runEnded(run.record.status);
    }
    const { record } = active;
    const repeated = record.stop_requested === mode;
    if (mode === "after_turn") return ok({ repeated, atOnce: this.#engine.stop(active) });
    this.#engine.cancel(active);
    return ok({ repeated, atOnce: undefined });
  }

  /** Gives a queued run another task. */
  change(id: string, task: StartRunInput["task"]): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    if (this.#engine.queued.change(id, task)) return this.infoWith(id, {});
    const { status } = this.#activeAs(id)?.record ?? run.record;
    return refuse(
      409,
      "run_started",
      `The run is ${status}; only the task of a queued run can be changed.`,
    );
  }

  pause(id: string): Result<RunInfo> {
    return this.#withActive(id, (active) => {
      if (!active.record.pause_requested) this.#engine.pause(active);
    });
  }

  resume(id: string): Result<RunInfo> {
    return this.#withActive(id, (active) => {
      if (active.record.pause_requested) this.#engine.resume(active);
    });
  }

  /** One run with its result. */
  run(id: string): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok({ ...this.#info(run), result: this.#result(run.record) });
  }

  page({ cursor, limit, task }: RunPageQuery): Result<RunPage> {
    const before = parseCursor(cursor);
    if (before === undefined) return invalidCursor();
    const found = this.#stores.runs.page(before, limit + 1);
    const shown: typeof found = [];
    let bytes = 0;
    for (const run of found.slice(0, limit)) {
      bytes += this.#stores.runs.taskSize(run);
      if (shown.length > 0 && bytes > MAX_PAGE_BYTES) break;
      shown.push(run);
    }
    const last = shown.at(-1);
    return ok({
      runs: shown.map((run) => (task === "preview" ? this.#preview(run) : this.#info(run))),
      next_cursor: found.length > shown.length && last ? cursorAt(last) : null,
    });
  }

  /** Resolves when the run is over, waits for a human or is paused, or after `timeoutMs`; not while it is queued. */
  async wait(id: string, timeoutMs: number): Promise<void> {
    const { feed, queued } = this.#engine;
    await feed.untilIdle(timeoutMs, () => {
      const active = this.#activeAs(id);
      return active ? active.record.status === "running" : queued.has(id);
    });
  }

  #withActive(id: string, change: (active: ActiveRun) => void): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const active = this.#activeAs(id);
    if (!active) return run.record.status === "queued" ? runQueued() : runEnded(run.record.status);
    change(active);
    return this.infoWith(id, {});
  }

  #activeAs(id: string): ActiveRun | undefined {
    const { active } = this.#engine;
    return active?.record.id === id ? active : undefined;
  }

  /** The run without its result, with additional fields. */
  infoWith<T extends object>(id: string, more: T): Result<RunInfo & T> {
    const active = this.#activeAs(id);
    if (active) return ok({ ...active.info(), ...more });
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok({ ...runInfo(this.#stores, run), ...more });
  }

  #info(run: StoredRun): RunInfo {
    return this.#activeAs(run.record.id)?.info() ?? runInfo(this.#stores, run);
  }

  /** The run with the beginning of its task as text. */
  #preview(run: StoredRun): RunInfo {
    const info = this.#info(run);
    const text = (info.task as unknown as ChatMessage[] | null)?.map(toText).join("\n\n");
    return { ...info, task: text === undefined ? null : beginningOf(text, PREVIEW_CHARACTERS) };
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

function cursorAt({ place, n }: RunPosition): string {
  return n === 0 ? String(place) : `${place}.${n}`;
}

/** Undefined for a cursor that no page has. */
function parseCursor(cursor: string | undefined): RunPosition | undefined {
  if (cursor === undefined) return TOP;
  const [, place, n = "0"] = /^(\d{1,16})(?:\.(\d{1,16}))?$/.exec(cursor) ?? [];
  return place === undefined ? undefined : { place: Number(place), n: Number(n) };
}
