import type { JsonObject } from "../../../core/json.ts";
import { PREVIEW_CHARACTERS } from "../../../contract/constants.ts";
import { beginningOf } from "../../../core/cut.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import { toText } from "../../../core/messages/views.ts";
import type { Answer } from "../../../core/turn/turn-context.ts";
import type { AskedRequest, HumanRequest, RunInfo, RunPage } from "../../../contract/run.ts";
import type { AnswersInput, StartRunInput } from "../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../contract/common.ts";
import { askedRequest, openRequests } from "../views/shown-requests.ts";
import { runInfo } from "../views/run-info.ts";
import type { ActiveRun } from "../active-run.ts";
import type { parseAnswer } from "./parse-answer.ts";
import type { RunEngine } from "../run-engine.ts";
import { MAX_PAGE_BYTES } from "../../../sqlite/page-limit.ts";
import {
  invalidCursor,
  ok,
  refuse,
  type Refused,
  refuseInput,
  type Result,
  runNotFound,
} from "../../../contract/result.ts";
import type { AdmissionDecision, RetryAdmission, RunAdmission } from "./admission.ts";
import { type RunPosition, TOP } from "../../storage/runs/run-queue.ts";
import type { RunRecord, StoredRun } from "../../storage/runs/run-record.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import { isOver } from "../../storage/runs/run-store.ts";
import type { Stores } from "../../storage/stores.ts";

/** A run with a larger result is shown without its messages. */
const LARGEST_RESULT_BYTES = 1_000_000;

interface RunPageQuery {
  cursor?: string | undefined;
  limit: number;
  task?: "preview" | undefined;
}

/** Answers that may be given, by the ids of their questions. */
type CheckedAnswers = ReadonlyMap<string, Answer>;

/** The run operations of the gateway. Changes are synchronous, so that each is stored as a whole or not at all. */
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
    return this.infoWith(run.id, { created: run.do !== "replay" });
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
      return runEnded(run);
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

  requests(id: string): Result<HumanRequest[]> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok(openRequests(this.#stores, run));
  }

  /** A question of the run, or of the one that it retries, with its answer. */
  request(id: string, request: string): Result<AskedRequest> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const question = this.#questionOf(run, request);
    if (question) return ok(askedRequest(question));
    return refuse(
      404,
      "request_not_found",
      isOver(run.record)
        ? `The run is ${run.record.status} and has no such request: its open ones ended with it.`
        : "The run has no such request; perhaps it no longer needs the answer.",
    );
  }

  /** A retry takes over the answers of the run it repeats, but not its open questions. */
  #questionOf(run: StoredRun, request: string): StoredQuestion | undefined {
    const question = this.#stores.questions.get(request);
    return question && (question.run === run.record.id || question.answer) ? question : undefined;
  }

  /**
   * Checks answers to questions of a run. None of them is given yet.
   *
   * @param parse imported by the caller, because most runs ask nothing
   * @returns those that are new, by the ids of their questions
   */
  checkAnswers(
    { run: id, answers }: AnswersInput,
    parse: typeof parseAnswer,
  ): Result<CheckedAnswers> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const checked = new Map<string, Answer>();
    for (const { request, answer, if_open = false } of answers) {
      const refused = this.#checkAnswer(run, request, answer, { parse, checked });
      if (refused && !(if_open && refused.problem.status === 409)) return refused;
    }
    return ok(checked);
  }

  /** Adds an answer to those that are checked, unless the question has it already. */
  #checkAnswer(
    run: StoredRun,
    request: string,
    input: JsonObject,
    { parse, checked }: { parse: typeof parseAnswer; checked: Map<string, Answer> },
  ): Refused | undefined {
    const question = this.#questionOf(run, request);
    if (!question) {
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
    const other = checked.get(request);
    const earlier = question.answer?.text ?? (other && JSON.stringify(other));
    if (earlier === undefined) checked.set(request, answer);
    else if (earlier !== JSON.stringify(answer)) {
      return refuse(
        409,
        "already_answered",
        "The request was answered before with another answer.",
      );
    }
    return undefined;
  }

  /** Gives answers that {@link checkAnswers} has checked. It must be called without awaiting anything in between. */
  giveAnswers({ run, by = null }: AnswersInput, answers: CheckedAnswers): Result<RunInfo> {
    const { questions } = this.#stores;
    for (const [request, answer] of answers) questions.answer(request, answer, by);
    if (answers.size > 0) this.#engine.answered();
    return this.infoWith(run, {});
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
    if (!active) return run.record.status === "queued" ? runQueued() : runEnded(run);
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

function runQueued(): ReturnType<typeof refuse> {
  return refuse(409, "run_queued", "The run is queued; this is possible once it has started.");
}

function runEnded({ record }: StoredRun): ReturnType<typeof refuse> {
  return refuse(409, "run_ended", `The run is ${record.status}.`);
}
