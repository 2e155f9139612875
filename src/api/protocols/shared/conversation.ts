import type {
  Answering,
  AnswersInput,
  OpenedStream,
  StartedStream,
  StartRunInput,
  StreamInput,
  TeamGateway,
  StreamFormat,
} from "../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../contract/common.ts";
import { ok, type Result } from "../../../contract/result.ts";
import type { AnsweredRun, RunInfo } from "../../../contract/run.ts";
import type { TeamInfo } from "../../../contract/team.ts";
import type { JsonObject } from "../../../core/json.ts";
import { readAnswer } from "../../http/input/task.ts";
import type { Principal } from "../../auth/principal.ts";
import { answeringOf, type Asker, userOf } from "../../http/access/access-control.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import type { MessageServices } from "../../http/endpoint/services.ts";

/** An answer to a question of a run, as a client gave it. */
export interface RequestAnswer {
  request: string;
  answer: JsonObject;
  /** See {@link AnswersInput}. */
  if_open?: boolean;
}

/** A message that was sent into a run, and the cursor behind it. */
export interface SentIntoRun {
  id: string;
  cursor: number;
}

/** The last messages among which one is searched that has just been sent. */
const TAIL = 50;

/** Options of a new run. */
export type NewRunOptions = Partial<StartRunInput> & Asker;

/** The start and the format of a run's stream. */
type StreamOfRun = Omit<StreamInput, "run">;

/**
 * A conversation with a team, the same over every protocol: a run is started or queued, continued with answers, and followed.
 * Each of these is one call of the team.
 */
export class TeamConversation {
  readonly team: TeamGateway;
  readonly #services: MessageServices;
  readonly #principal: Principal;
  readonly #by: Answering;

  /** @param by the credential that speaks in it */
  constructor(team: TeamGateway, services: MessageServices, by: Principal) {
    this.team = team;
    this.#services = services;
    this.#principal = by;
    this.#by = answeringOf(by);
  }

  /** Starts a run and opens its stream. `on_conflict` says whether a busy team refuses it, queues it or is interrupted. */
  start(
    task: StartRunInput["task"],
    options: NewRunOptions,
    format?: StreamFormat,
  ): Promise<Result<StartedStream>> {
    return this.team.startStream(newRun(task, options), format);
  }

  /** Starts a run that the client does not follow. */
  startAlone(
    task: StartRunInput["task"],
    options: NewRunOptions,
  ): Promise<Result<RunInfo & { created: boolean }>> {
    return this.team.startRun(newRun(task, options));
  }

  /** Gives answers to a run and opens its stream. @throws ProblemError for an answer that cannot be read */
  async continue(
    run: string,
    answers: readonly RequestAnswer[],
    stream: StreamOfRun,
  ): Promise<Result<OpenedStream>> {
    return this.team.continueRun(await this.#read(run, answers), stream);
  }

  /** Gives answers to a run that the client does not follow. @throws ProblemError for an answer that cannot be read */
  async answer(run: string, answers: readonly RequestAnswer[]): Promise<Result<AnsweredRun>> {
    return this.team.answers(await this.#read(run, answers));
  }

  /**
   * Sends a message into a run, which its agents read at their next step. The same message again is sent once.
   *
   * @throws ProblemError for a run of another user than the one that the credential stands for
   */
  async steer(
    { id: run, user }: RunInfo,
    content: string,
    idempotency?: Idempotency,
  ): Promise<Result<SentIntoRun>> {
    if (this.#principal.user !== undefined) userOf(this.#principal, user);
    const sent = await this.team.steerRun(run, { content }, idempotency);
    if (!sent.ok) return sent;
    const { id } = sent.value;
    const page = await this.team.messages({ before: Number.MAX_SAFE_INTEGER, limit: TAIL });
    if (!page.ok) return page;
    // A run that is queued shows it when it begins, and one sent long before is behind many others.
    const cursor = page.value.messages.find((message) => message.id === id)?.seq ?? 0;
    return ok({ id, cursor });
  }

  /** Opens the stream of a run. */
  follow(run: string, stream: StreamOfRun): Promise<Result<OpenedStream>> {
    return this.team.stream({ run, ...stream });
  }

  /** The active run; undefined while the team is idle. @throws ProblemError */
  async activeRun(team?: Pick<TeamInfo, "active_run">): Promise<RunInfo | undefined> {
    const { active_run: id } = team ?? unwrap(await this.team.team());
    return id === null ? undefined : unwrap(await this.team.run(id));
  }

  /** The active run, or else the one that ran last. Runs that are queued come first in lists. @throws ProblemError */
  async lastRun(team?: Pick<TeamInfo, "active_run">): Promise<RunInfo | undefined> {
    const active = await this.activeRun(team);
    return active ?? unwrap(await this.team.runs({ limit: 1 })).runs[0];
  }

  async #read(run: string, answers: readonly RequestAnswer[]): Promise<AnswersInput> {
    const to = { team: this.team };
    const read = answers.map(async ({ answer, ...given }) => ({
      ...given,
      answer: await readAnswer(answer, this.#services, to),
    }));
    return { run, ...this.#by, answers: await Promise.all(read) };
  }
}

/** The input of a run whose task its client has already. */
function newRun(task: StartRunInput["task"], options: NewRunOptions): StartRunInput {
  return {
    task,
    output_task_messages: false,
    on_conflict: "reject",
    timeout_seconds: null,
    max_total_tokens: null,
    max_cost: null,
    metadata: {},
    webhook: null,
    ...options,
  };
}
