import type { Result } from "../../../contract/result.ts";
import { TroupeError } from "../../../core/errors.ts";
import type { MemoryHost } from "../../../core/memory/memory-host.ts";
import { type TaskFile, taskFiles } from "../../../core/messages/task-files.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { ServerLogins } from "../../../core/steps/server-logins.ts";
import type { StepCache } from "../../../core/steps/step-attempt.ts";
import { type RunContext, runContext } from "../../../core/turn/run-context.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { RunRecord, StoredRun } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";
import { hopsAfter, turnId } from "../../storage/runs/run-store.ts";
import type { JournalParts, JournaledTurn } from "./journal-parts.ts";
import type { JournaledRun, LoginsOfTenant, RunConstants } from "./journaled-run.ts";
import { TurnMemory } from "./turn-memory.ts";

/** @param tenant undefined without the binding TENANT */
export function runConstants(
  record: RunRecord,
  stores: Stores,
  tenant: LoginsOfTenant | undefined,
): RunConstants {
  const run = runContextOf(record, stores);
  return {
    session: stores.team.session,
    logins: tenant && loginsOf(tenant, run.team, record),
    hops: hopsAfter(record),
    run,
  };
}

/** The caller and the purpose of a run, as its tools and agents see them. */
export function runContextOf(record: StoredRun["record"], { team }: Stores): RunContext {
  const { id, tenant } = team.record;
  return runContext({ ...record, team: id, tenant });
}

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
  readonly clientTools: readonly ToolSchema[];
  readonly answerForm: AnswerForm | undefined;
  /** The memories that the turn has read and written; undefined as long as it uses none. */
  usedMemory: TurnMemory | undefined;
  readonly #openMemory: () => TurnMemory;
  readonly #active: JournaledRun;
  readonly #stores: Stores;
  #files: readonly TaskFile[] | undefined;

  constructor(
    { stores, memories, skills, env }: JournalParts,
    { active, fence, facts }: JournaledTurn,
  ) {
    const { cache } = stores;
    this.turnId = turnId(active.record, active.turnOfRun);
    this.started = active.turnStarted;
    this.signal = fence.signal;
    this.session = facts.session;
    this.logins = facts.logins;
    this.env = env;
    this.hops = facts.hops;
    this.run = facts.run;
    this.clientTools = active.record.tools ?? [];
    this.answerForm = active.record.answer_form;
    this.cache = active.repeatsFailedTurn ? cache.renewing() : cache;
    this.#openMemory = () => new TurnMemory(stores, active, memories, skills);
    this.#active = active;
    this.#stores = stores;
  }

  get files(): readonly TaskFile[] {
    const { record, stored } = this.#active;
    return (this.#files ??= taskFiles(this.#stores.runs.task({ seq: stored.seq, record })));
  }

  get memory(): MemoryHost {
    return (this.usedMemory ??= this.#openMemory());
  }

  get stopRequested(): boolean {
    return this.#active.record.stop_requested !== null;
  }
}

/** The logins at other servers that a run may use: those of its user, or the tenant's for a run without one. */
function loginsOf(
  tenant: LoginsOfTenant,
  team: string,
  record: Pick<RunRecord, "id" | "user">,
): ServerLogins {
  const { id: run } = record;
  const user = record.user ?? null;
  return {
    user,
    token: async (challenge, request) =>
      valueOf(await tenant.token({ ...challenge, user, team, run, request })),
    held: async (server) => valueOf(await tenant.login({ server, user })) ?? undefined,
  };
}

/** @throws TroupeError with the tenant's refusal */
function valueOf<T>(answer: Result<T>): T {
  if (answer.ok) return answer.value;
  const { status, code, detail } = answer.problem;
  throw Object.assign(new TroupeError(code, detail), { retryable: status >= 500 });
}
