import { StateError } from "../../../core/errors.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { type TaskFile, taskFiles } from "../../../core/messages/task-files.ts";
import type { MemoryHost } from "../../../core/memory/memory-host.ts";
import { announceEnd, observersOf, sharedPartsOf } from "../../../core/run/run-observer.ts";
import type { Runnable } from "../../../core/run/runnable.ts";
import { isTurnSignal, TurnSignal } from "../../../core/steps/signals.ts";
import type { SkillSource } from "../../../core/skills/skill-source.ts";
import type { Answer, Question, RequestOfStep } from "../../../core/turn/turn-context.ts";
import type { Moment, StepRecord, TurnHost } from "../../../core/turn/turn-host.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import type { SteeringHost } from "../../../core/turn/steering.ts";
import { TurnScope } from "../../../core/turn/turn-scope.ts";
import { standsAtCancellation, commitAt } from "../../storage/log/commits.ts";
import type { KeptStep } from "../../storage/log/kept-steps.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import { turnId } from "../../storage/runs/run-store.ts";
import { restorePast } from "../../storage/team-state.ts";
import type { Stores } from "../../storage/stores.ts";
import { messagesIn } from "../journal/turn-steering.ts";
import { knownAnswer } from "../journal/decide.ts";
import { runContextOf } from "../journal/turn-facts.ts";
import { type OtherMemories, TurnMemory } from "../journal/turn-memory.ts";

/** A turn that has run, and the step whose request is wanted. */
export interface ReplayedTurn {
  run: StoredRun;
  /** The number of the turn in the run, and in the team's life. */
  number: number;
  turn: number;
  /** Its recorded steps. */
  steps: ReadonlyMap<string, Pick<KeptStep, "fingerprint" | "outcome">>;
  /** Path of the step. */
  step: string;
}

/** A request as the code makes it again. */
export interface ReplayedRequest {
  request: RequestOfStep;
  fingerprint: string;
}

/** Memories of other objects. Their results are recorded, and nothing is read there again. */
const RECORDED_ONLY: OtherMemories = {
  reach: () => Promise.reject(new TurnSignal("suspend")),
  collection: () => ({ search: () => Promise.reject(new TurnSignal("suspend")) }),
  written: () => {},
};

/** Skills, whose contents are recorded as they were read. */
const RECORDED_SKILLS: SkillSource = {
  find: () => Promise.reject(new TurnSignal("suspend")),
  open: () => Promise.reject(new TurnSignal("suspend")),
  read: () => Promise.reject(new TurnSignal("suspend")),
  files: () => Promise.reject(new TurnSignal("suspend")),
};

/** The time for a turn that only computes, in milliseconds. */
const LONGEST_MS = 10_000;

/**
 * Runs a turn once more over the state that it began with, up to the request that a step made. Recorded steps return their results; no
 * effect is carried out, nothing is written, and no message reaches a client. undefined when the turn does not reach the step, because
 * a result before it is not known, the code has changed, or it does not end in time.
 *
 * @param runnable the team of that turn, just built
 */
export async function replayRequest(
  stores: Stores,
  runnable: Runnable,
  { run, number, turn, steps, step }: ReplayedTurn,
  { env, hasMemories }: { env: object; hasMemories: boolean },
): Promise<ReplayedRequest | undefined> {
  const { record, seq } = run;
  try {
    restorePast(stores, runnable, turn - 1);
  } catch (error) {
    if (error instanceof StateError) return undefined;
    throw error;
  }
  const before = commitAt(stores.db, stores.texts, turn - 1);
  const isFirst = before?.run !== seq;
  if (isFirst && record.retry_of === null && standsAtCancellation(stores, turn - 1)) {
    runnable.stop();
  }
  const turnStarted = isFirst ? record.first_moment : before.time;
  const of = { record, turnOfTeam: turn, turnStarted };
  const task = stores.runs.task(run);
  const host = new ReplayHost({
    turnId: turnId(record, number),
    started: turnStarted,
    session: stores.team.session,
    env,
    run: runContextOf(record, stores),
    files: taskFiles(task),
    memory: new TurnMemory(stores, of, hasMemories ? RECORDED_ONLY : undefined, RECORDED_SKILLS),
    clientTools: record.tools ?? [],
    answerForm: record.answer_form,
    steps,
    wanted: step,
    answerTo: (question) => knownAnswer(stores, question),
  });
  const ctx = TurnScope.root(host);
  const observers = observersOf(runnable);
  const { shared, board } = sharedPartsOf(runnable);
  shared?.beginTurn(number === 0 ? record.state : undefined);
  board?.beginTurn();
  if (number === 0) for (const observer of observers.values()) observer.runBegins();
  const pass =
    number === 0
      ? runnable.begin({ messages: task, outputTaskMessages: true }, ctx)
      : runnable.turn(ctx);
  const play = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await pass.next();
      if (host.signal.aborted) return;
      if (!done) continue;
      if (value.done) await announceEnd(observers, ctx);
      return;
    }
  };
  const timer = setTimeout(() => host.stop(), LONGEST_MS);
  try {
    // An agent's code may wait for something that does not come, or continue after a signal.
    await Promise.race([play(), host.stopped]);
  } catch (error) {
    // A step that failed then fails again. A signal ends the turn if a result is not known.
    if (!isTurnSignal(error) && host.found === undefined) return undefined;
  } finally {
    clearTimeout(timer);
    host.stop();
    void pass.return({ done: true, stopReason: null }).catch(() => undefined);
  }
  return host.found;
}

interface ReplayHostOptions extends Pick<TurnHost, "turnId" | "started" | "env" | "run"> {
  session: string;
  files: readonly TaskFile[];
  memory: MemoryHost;
  clientTools: readonly ToolSchema[];
  answerForm: AnswerForm | undefined;
  steps: ReplayedTurn["steps"];
  wanted: string;
  answerTo: (question: Question) => { answer: Answer; time: Moment } | undefined;
}

/** The host of a turn that has run: gives what was recorded, and takes the request of one step. */
class ReplayHost implements TurnHost {
  readonly turnId: string;
  readonly started: Moment;
  readonly session: string;
  readonly env: object;
  readonly run: RunContext;
  readonly files: readonly TaskFile[];
  readonly memory: MemoryHost;
  readonly clientTools: readonly ToolSchema[];
  readonly answerForm: AnswerForm | undefined;
  readonly stopRequested = false;
  /** Readings as they were recorded; no call is made that could be cut. */
  readonly steering: SteeringHost = {
    read: (key) => {
      const { outcome } = this.#options.steps.get(key) ?? {};
      return outcome === undefined ? [] : messagesIn(outcome);
    },
    begins: () => {},
    ended: () => {},
    wasCut: () => {},
  };
  readonly #abort = new AbortController();
  readonly #options: ReplayHostOptions;
  readonly #fingerprints = new Map<string, string>();
  #found: ReplayedRequest | undefined;

  constructor(options: ReplayHostOptions) {
    this.turnId = options.turnId;
    this.started = options.started;
    this.session = options.session;
    this.env = options.env;
    this.run = options.run;
    this.files = options.files;
    this.memory = options.memory;
    this.clientTools = options.clientTools;
    this.answerForm = options.answerForm;
    this.#options = options;
  }

  get found(): ReplayedRequest | undefined {
    return this.#found;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#abort.abort();
  }

  get stopped(): Promise<void> {
    return new Promise((resolve) => {
      this.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  clock(): Moment {
    return this.started;
  }

  gate(): void {
    if (this.signal.aborted) throw new TurnSignal("suspend");
  }

  recall(key: string): StepRecord | undefined {
    const { steps, wanted } = this.#options;
    const { fingerprint, outcome } = (key !== wanted && steps.get(key)) || {};
    if (fingerprint === undefined || outcome === undefined) return undefined;
    return { kind: "effect", policy: "retry", attempt: 1, fingerprint, outcome };
  }

  stepStarted(key: string, step: Omit<StepRecord, "outcome">): void {
    if (key === this.#options.wanted) this.#fingerprints.set(key, step.fingerprint);
  }

  shows(key: string, request: RequestOfStep | undefined): never {
    const fingerprint = this.#fingerprints.get(key);
    if (fingerprint !== undefined && request !== undefined) {
      this.#found = { request, fingerprint };
      this.stop();
    }
    throw new TurnSignal("suspend");
  }

  /** A step before the wanted one is asked for something else than it was. What followed is what was recorded. */
  invalidate(): void {}

  answer(question: Question): Promise<{ answer: Answer; time: Moment }> {
    const known = this.#options.answerTo(question);
    if (known === undefined) throw new TurnSignal("suspend");
    return Promise.resolve(known);
  }

  backoff(): Promise<void> {
    throw new TurnSignal("suspend");
  }

  ended(): void {}
  threw(): void {}
  failed(): void {}
  discard(): void {}
}
