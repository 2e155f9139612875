import type { JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/messages/message.ts";
import { MAX_PUSH_CONFIGS } from "../../contract/constants.ts";
import { shownWebhookUrl } from "../../secrets/webhook-url.ts";
import type { PushConfig, SecretPushConfig } from "../../contract/webhooks/push.ts";
import type { HumanRequest, RunInfo, RunPage } from "../../contract/run.ts";
import type { Idempotency, StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { Result } from "../../contract/result.ts";
import { type ActiveRun, runInfo } from "../run/active-run.ts";
import type { parseAnswer } from "./parse-answer.ts";
import type { RunController } from "../run/run-controller.ts";
import { openRequests } from "../storage/runs/human-requests.ts";
import { MAX_PAGE_BYTES } from "../storage/page-limit.ts";
import { ok, refuse } from "../../contract/result.ts";
import { invalidCursor, refuseInput, runNotFound } from "./refusals.ts";
import { RunStarter } from "../run/run-starter.ts";
import { type RunPosition, TOP } from "../storage/runs/run-queue.ts";
import { isOver, type RunRecord, type StoredRun } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";

/** A run with a larger result is shown without its messages. */
const LARGEST_RESULT_BYTES = 1_000_000;

/** The run operations of the gateway. Changes are synchronous, so that each is stored as a whole or not at all. */
export class RunService {
  readonly #stores: Stores;
  readonly #controller: RunController;
  readonly #starts: RunStarter;

  constructor(stores: Stores, controller: RunController) {
    this.#stores = stores;
    this.#controller = controller;
    this.#starts = new RunStarter(stores, controller);
  }

  /** Whether {@link start} would start a run, and beside which; undefined when it answers without. */
  starts(input: StartRunInput): "alone" | "beside" | undefined {
    return this.#starts.starts(input);
  }

  /** Whether {@link retry} would start a run. */
  retries(id: string, idempotency?: Idempotency): boolean {
    return this.#starts.retries(id, idempotency);
  }

  start(input: StartRunInput): Result<RunInfo & { created: boolean }> {
    const started = this.#starts.start(input);
    if (!started.ok) return started;
    const { id, created } = started.value;
    return this.shown(id, { created });
  }

  retry(id: string, idempotency?: Idempotency): Result<RunInfo> {
    const started = this.#starts.retry(id, idempotency);
    return started.ok ? this.shown(started.value, {}) : started;
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
      if (this.#controller.queued.cancel(id, mode))
        return ok({ repeated: false, atOnce: undefined });
      if (run.record.stop_requested === mode) return ok({ repeated: true, atOnce: undefined });
      return runEnded(run);
    }
    const { record } = active;
    const repeated = record.stop_requested === mode;
    record.stop_requested = mode;
    if (mode === "after_turn") return ok({ repeated, atOnce: this.#controller.stop(active) });
    this.#controller.end({ status: "cancelled" });
    return ok({ repeated, atOnce: undefined });
  }

  pause(id: string): Result<RunInfo> {
    return this.#withActive(id, (active) => {
      if (!active.record.pause_requested) this.#controller.pause(active);
    });
  }

  resume(id: string): Result<RunInfo> {
    return this.#withActive(id, (active) => {
      if (active.record.pause_requested) this.#controller.resume(active);
    });
  }

  requests(id: string): Result<HumanRequest[]> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok(openRequests(this.#stores, run));
  }

  /** @param parse imported by the caller, because most runs ask nothing */
  answer(
    id: string,
    request: string,
    input: JsonObject,
    parse: typeof parseAnswer,
  ): Result<RunInfo> {
    const { runs, questions } = this.#stores;
    const run = runs.byId(id);
    if (!run) return runNotFound();
    const question = questions.get(request);
    // A retry takes over the answers of the run it repeats, but not its open questions.
    if (!question || (question.run !== id && !question.answer)) {
      if (isOver(run.record)) return runEnded(run);
      if (run.record.status === "queued") return runQueued();
      return refuse(404, "request_not_found", "The run has no such request.");
    }
    let answer;
    try {
      answer = parse(question.question, input);
    } catch (error) {
      return refuseInput(error);
    }
    if (question.answer) {
      if (question.answer.text === JSON.stringify(answer)) return this.shown(id, {});
      return refuse(
        409,
        "already_answered",
        "The request was answered before with another answer.",
      );
    }
    questions.answer(request, answer, Date.now());
    this.#controller.answered();
    return this.shown(id, {});
  }

  putPushConfig(id: string, config: SecretPushConfig): Result<null> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const others = (run.record.push ?? []).filter((one) => one.id !== config.id);
    if (others.length >= MAX_PUSH_CONFIGS) {
      return refuse(
        409,
        "too_many_push_configs",
        `The run has ${MAX_PUSH_CONFIGS} push notification configs, the most that are allowed.`,
      );
    }
    this.#setPushConfigs(run, [...others, config]);
    return ok(null);
  }

  /** Without their headers. */
  pushConfigs(id: string): Result<PushConfig[]> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok(
      (run.record.push ?? []).map(({ headers: _headers, url, ...config }) => ({
        ...config,
        url: shownWebhookUrl(url),
      })),
    );
  }

  deletePushConfig(id: string, config: string): Result<null> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const { push = [] } = run.record;
    const others = push.filter((one) => one.id !== config);
    if (others.length < push.length) {
      this.#stores.transaction(() => {
        this.#setPushConfigs(run, others);
        this.#stores.announcer.pushDeleted(id, config);
      });
    }
    return ok(null);
  }

  #setPushConfigs({ seq, record }: StoredRun, push: readonly SecretPushConfig[]): void {
    // The record of the active run is ahead of the stored one.
    const stored = this.#activeAs(record.id)?.stored ?? { seq, record: { ...record } };
    stored.record.push = push;
    this.#stores.runs.update(stored);
  }

  /** One run with its result. */
  run(id: string): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok({ ...this.#info(run), result: this.#result(run.record) });
  }

  page({ cursor, limit }: { cursor?: string; limit: number }): Result<RunPage> {
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
      runs: shown.map((run) => this.#info(run)),
      next_cursor: found.length > shown.length && last ? cursorAt(last) : null,
    });
  }

  /** Resolves when the run is over, waits for a human or is paused, or after `timeoutMs`; not while it is queued. */
  async wait(id: string, timeoutMs: number): Promise<void> {
    await this.#controller.untilRest(id, timeoutMs);
  }

  #withActive(id: string, change: (active: ActiveRun) => void): Result<RunInfo> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const active = this.#activeAs(id);
    if (!active) return run.record.status === "queued" ? runQueued() : runEnded(run);
    change(active);
    return this.shown(id, {});
  }

  #activeAs(id: string): ActiveRun | undefined {
    const { active } = this.#controller;
    return active?.record.id === id ? active : undefined;
  }

  /** The run without its result, and what else there is to say. */
  shown<T extends object>(id: string, more: T): Result<RunInfo & T> {
    const active = this.#activeAs(id);
    if (active) return ok({ ...active.info(), ...more });
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok({ ...runInfo(this.#stores, run), ...more });
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

function cursorAt({ place, n }: RunPosition): string {
  return n === 0 ? String(place) : `${place}.${n}`;
}

/** Undefined for a cursor that no page has. */
function parseCursor(cursor: string | undefined): RunPosition | undefined {
  if (cursor === undefined) return TOP;
  const [, place, n = "0"] = /^(\d{1,16})(?:\.(\d{1,16}))?$/.exec(cursor) ?? [];
  return place === undefined ? undefined : { place: Number(place), n: Number(n) };
}

function runQueued(): ReturnType<typeof refuse> {
  return refuse(409, "run_queued", "The run is queued; this is possible once it has started.");
}

function runEnded({ record }: StoredRun): ReturnType<typeof refuse> {
  return refuse(409, "run_ended", `The run is ${record.status}.`);
}
