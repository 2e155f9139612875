import type { MemoryHost } from "../../../core/memory/memory-host.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { ServerLogins } from "../../../core/steps/server-logins.ts";
import type { StepCache } from "../../../core/steps/step-attempt.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { JournalParts, JournaledTurn } from "./journal-parts.ts";
import type { JournaledRun } from "./journaled-run.ts";
import { TurnMemory } from "./turn-memory.ts";

/** The facts that agents and tools learn of their run and their turn. */
export class TurnFacts {
  readonly turnId: string;
  readonly started: Moment;
  readonly signal: AbortSignal;
  readonly session: string;
  readonly logins: ServerLogins | undefined;
  readonly env: object;
  readonly hops: number;
  readonly run: RunContext;
  readonly cache: StepCache;
  /** The memories that the turn has read and written; undefined as long as it uses none. */
  usedMemory: TurnMemory | undefined;
  readonly #openMemory: () => TurnMemory;
  readonly #active: JournaledRun;

  constructor({ stores, memories, env }: JournalParts, { active, fence, facts }: JournaledTurn) {
    const { cache } = stores;
    this.turnId = active.turnId;
    this.started = active.turnStarted;
    this.signal = fence.signal;
    this.session = facts.session;
    this.logins = facts.logins;
    this.env = env;
    this.hops = facts.hops;
    this.run = facts.run;
    this.cache = active.repeatsFailedTurn ? cache.renewing() : cache;
    this.#openMemory = () => new TurnMemory(stores, active, memories);
    this.#active = active;
  }

  get memory(): MemoryHost {
    return (this.usedMemory ??= this.#openMemory());
  }

  get clientTools(): readonly ToolSchema[] {
    return this.#active.record.tools ?? [];
  }

  get answerForm(): AnswerForm | undefined {
    return this.#active.record.answer_form;
  }

  get stopRequested(): boolean {
    return this.#active.record.stop_requested !== null;
  }
}
