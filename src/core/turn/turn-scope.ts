import { TroupeError } from "../errors.ts";
import { hashId } from "../hash.ts";
import { type JsonObject, sortedJson } from "../json.ts";
import type { TaskFile } from "../messages/task-files.ts";
import type { MemoryHost } from "../memory/memory-host.ts";
import { processMark } from "../memory/process-memory.ts";
import type { AnswerForm, ToolSchema } from "../models/chat-completion-client.ts";
import { runBranches } from "./branches.ts";
import { TurnSignal } from "../steps/signals.ts";
import type { RunContext } from "./run-context.ts";
import { Step, type StepScope } from "./step.ts";
import { passedTo, Reader } from "./steering.ts";
import type { TextMessage } from "../messages/chat-messages.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
import type {
  AllOptions,
  Answer,
  Branch,
  Question,
  ScopeOptions,
  ScopeSubject,
  SteeringOptions,
  StepOptions,
  StreamStepOptions,
  TurnContext,
} from "./turn-context.ts";
import type { BranchFailure, Moment, TurnHost } from "./turn-host.ts";

/** Cloudflare allows six connections at once per request; one is left for the host. */
const PARALLEL_EFFECTS = 5;

const NO_MEMORY: MemoryHost = {
  get mark() {
    return processMark();
  },
  store: () => undefined,
  collection: () => undefined,
};

/** Shared by all scopes of one turn. */
interface Shared {
  host: TurnHost;
  effects: Semaphore;
  /** Step and scope keys in use: one used twice would make two things share a journal entry or an id. */
  keys: Set<string>;
}

/** Branches that stop together: one that fails halts its siblings, but nothing outside the group. */
interface Group {
  halted: boolean;
  parent: Group | undefined;
}

/** The turn context of every host: keys, ids, time and the order of effects. Recording is up to the host. */
export class TurnScope implements TurnContext {
  readonly #shared: Shared;
  readonly #group: Group;
  readonly #path: string;
  readonly #parent: TurnScope | undefined;
  /** True if it runs in sequence with its parent, not in parallel: then its steps also advance the parent's time. */
  readonly #inline: boolean;
  /** Undefined in a tool: what runs there reads nothing of what comes into the run. */
  readonly #reader: Reader | undefined;
  #ids = 0;
  #time: Moment;
  #stepping = false;

  private constructor(
    shared: Shared,
    group: Group,
    path: string,
    time: Moment,
    parent: TurnScope | undefined,
    inline: boolean,
    reader: Reader | undefined,
  ) {
    this.#shared = shared;
    this.#group = group;
    this.#path = path;
    this.#time = time;
    this.#parent = parent;
    this.#inline = inline;
    this.#reader = reader;
  }

  /** The outermost scope of a turn. */
  static root(host: TurnHost): TurnScope {
    const shared = { host, effects: new Semaphore(PARALLEL_EFFECTS), keys: new Set<string>() };
    const group = { halted: false, parent: undefined };
    return new TurnScope(shared, group, "", host.started, undefined, false, new Reader());
  }

  get signal(): AbortSignal {
    return this.#shared.host.signal;
  }

  get stopRequested(): boolean {
    return this.#parent === undefined && this.#shared.host.stopRequested;
  }

  get env(): object {
    return this.#shared.host.env;
  }

  get run(): RunContext {
    return this.#shared.host.run;
  }

  get files(): readonly TaskFile[] {
    return this.#shared.host.files ?? [];
  }

  get clientTools(): readonly ToolSchema[] {
    return this.#shared.host.clientTools ?? [];
  }

  get answerForm(): AnswerForm | undefined {
    return this.#shared.host.answerForm;
  }

  get memory(): MemoryHost {
    return this.#shared.host.memory ?? NO_MEMORY;
  }

  now(): string {
    return new Date(this.#time.at).toISOString();
  }

  get elapsedMs(): number {
    return this.#time.ran;
  }

  id(): string {
    return hashId(`${this.#shared.host.turnId}/${this.#path}#${this.#ids++}`);
  }

  scope(key: string, options?: ScopeOptions): TurnScope {
    return this.#child(key, this.#group, true, options);
  }

  steering(key: string, options?: SteeringOptions): readonly TextMessage[] {
    this.#refuseInsideStep(key);
    const path = this.#claim(key);
    const { steering } = this.#shared.host;
    if (steering === undefined || this.#reader === undefined) return [];
    const last = options?.last === true && this.#parent === undefined;
    const messages = steering.read(path, this.#reader, { ...options, last });
    return messages.map((message) => passedTo(this.#reader?.path ?? "", message));
  }

  readersOf(message: string): readonly string[] {
    return this.#reader?.membersWith(message) ?? [];
  }

  describe(subject: ScopeSubject): void {
    this.#shared.host.described?.(this.#path, subject, this.#time);
  }

  innerTurn(team: string, state: () => JsonObject | undefined): void {
    this.#shared.host.innerTurn?.(this.#path, team, state);
  }

  note(message: string): void {
    this.#shared.host.noted?.(this.#path, message);
  }

  async *all<Item, Result>(
    branches: readonly Branch<Item, Result>[],
    { inTurn = false }: AllOptions = {},
  ): AsyncGenerator<Item, Result[], void> {
    const group: Group = { halted: false, parent: this.#group };
    const scopes = branches.map((branch) => this.#child(branch.key, group, false, branch));
    const failures: BranchFailure[] = [];
    try {
      const results = yield* runBranches(
        branches.map((branch, index) => branch.run(scopes[index] as TurnScope)),
        (index, error) => {
          group.halted = true;
          failures.push({ scope: (scopes[index] as TurnScope).#path, error });
        },
        inTurn,
      );
      for (const scope of scopes) this.#advance(scope.#time);
      return results;
    } finally {
      if (failures.length > 0) this.#shared.host.failed(failures);
    }
  }

  async step<T>(
    key: string,
    effect: (attempt: StepAttempt) => Promise<T>,
    options: StepOptions<T> = {},
  ): Promise<T> {
    const step = this.#enter(key, options);
    const { effects, host } = this.#shared;
    try {
      const recorded = await step.recorded();
      if (recorded) return recorded.value;
      for (;;) {
        const room = step.reserve();
        if (room) await room;
        await effects.acquire();
        try {
          const ready = host.ready?.(step);
          if (ready) await ready;
          return step.end(await effect(step.begin()));
        } catch (error) {
          if (step.isCut) throw await step.cutOff(error);
          const last = step.failed(error);
          if (last) return last.value;
        } finally {
          effects.release();
          step.release();
        }
        await step.backoff();
        if (step.isCut) throw await step.cutOff();
      }
    } finally {
      this.#stepping = false;
      step.leave();
      const settled = host.settled?.();
      if (settled) await settled;
    }
  }

  async *stream<C, T>(
    key: string,
    effect: (attempt: StepAttempt) => AsyncGenerator<C, T, void>,
    options: StreamStepOptions<T> = {},
  ): AsyncGenerator<C, T, void> {
    const step = this.#enter(key, options);
    const { effects, host } = this.#shared;
    try {
      const recorded = await step.recorded();
      if (recorded) return recorded.value;
      for (;;) {
        const room = step.reserve();
        if (room) await room;
        await effects.acquire();
        try {
          const ready = host.ready?.(step);
          if (ready) await ready;
          return step.end(yield* effect(step.begin()));
        } catch (error) {
          if (step.isCut) throw await step.cutOff(error);
          const last = step.failed(error);
          if (last) return last.value;
        } finally {
          effects.release();
          step.release();
        }
        if (options.messageId !== undefined) host.discard(options.messageId);
        await step.backoff();
        if (step.isCut) throw await step.cutOff();
      }
    } finally {
      this.#stepping = false;
      step.leave();
      const settled = host.settled?.();
      if (settled) await settled;
    }
  }

  async ask(question: Question): Promise<Answer> {
    this.#refuseInsideStep(question.id);
    return this.#ask(question);
  }

  async #ask(question: Question): Promise<Answer> {
    const { host } = this.#shared;
    await host.ready?.();
    this.#gate();
    const { answer, time } = await host.answer(identified(question), this.#path);
    this.#advance(time);
    return answer;
  }

  #child(
    key: string,
    group: Group,
    inline: boolean,
    { member, deaf = false }: ScopeOptions = {},
  ): TurnScope {
    this.#refuseInsideStep(key);
    const path = this.#claim(key);
    const around = deaf ? undefined : this.#reader;
    const reader = member === undefined ? around : around?.member(member);
    return new TurnScope(this.#shared, group, path, this.#time, this, inline, reader);
  }

  /** Begins a step; marks the scope at once, so that a second step in the same synchronous code is detected. */
  #enter<T>(key: string, options: StreamStepOptions<T>): Step<T> {
    this.#refuseInsideStep(key);
    const path = this.#claim(key);
    this.#stepping = true;
    return new Step(this.#forStep(), key, path, options);
  }

  #forStep(): StepScope {
    return {
      host: this.#shared.host,
      path: this.#path,
      reader: this.#reader,
      gate: () => this.#gate(),
      advance: (time) => this.#advance(time),
      ask: (question) => this.#ask(question),
    };
  }

  #advance(time: Moment): void {
    if (time.at > this.#time.at) this.#time = time;
    if (this.#inline && this.#parent !== undefined) this.#parent.#advance(time);
  }

  #gate(): void {
    for (let group: Group | undefined = this.#group; group; group = group.parent) {
      if (group.halted) throw new TurnSignal("halt");
    }
    this.#shared.host.gate();
  }

  #claim(key: string): string {
    const path = this.#path === "" ? key : `${this.#path}/${key}`;
    if (this.#shared.keys.has(path)) {
      throw new TroupeError("duplicate_step", `the key "${path}" is used twice in one turn`);
    }
    this.#shared.keys.add(path);
    return path;
  }

  #refuseInsideStep(key: string): void {
    for (let scope: TurnScope | undefined = this; scope; scope = scope.#parent) {
      if (scope.#stepping) {
        throw new TroupeError(
          "nested_step",
          `"${key}" was started while another step of "${scope.#path}" was running; only leaf effects are steps, use scope() or all() for what runs side by side`,
        );
      }
    }
  }
}

/**
 * A retried turn may ask about something else at the same place, and an earlier answer must not apply to it. An input
 * keeps its id, because clients know it from its event.
 */
function identified(question: Question): Question {
  if (question.kind === "input") return question;
  const { id, prompt, code, toolCall: call } = question;
  const subject = [id, prompt, code ?? null, call?.name ?? null, call?.arguments ?? null];
  return { ...question, id: hashId(sortedJson(subject)) };
}

/** Admits at most `limit` holders at a time; others wait in the order of their requests. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  async acquire(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
