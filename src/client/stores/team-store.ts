import type { ApiError, ConnectionError } from "../http/errors.ts";
import { Store, type StoreOptions } from "./store.ts";
import type { SteerOptions } from "../teams/run-stream.ts";
import type { TeamClient } from "../teams/team.ts";
import type { CallOptions } from "../http/transport.ts";
import { CONNECTING, type TeamState, TeamStateBuilder } from "./team-state.ts";
import type { Answer, AnsweredRun, HumanRequest, RunInfo, RunOptions, Task } from "../http/wire.ts";

/** A cursor behind all messages. */
const LATEST = Number.MAX_SAFE_INTEGER;
/** The largest page of messages. */
const MOST_MESSAGES = 200;

export interface TeamStoreOptions extends StoreOptions {
  /** Messages per page, at most 200. Default 50. */
  pageSize?: number | undefined;
}

/**
 * A team as a page shows it: its conversation, texts in progress, the run and its questions, also for runs that were started
 * elsewhere. It is connected while it has subscribers.
 *
 * @example
 * const store = new TeamStore(client.team("support"));
 * const unsubscribe = store.subscribe(() => render(store.state));
 * await store.send("Hello.");
 */
export class TeamStore extends Store<TeamState> {
  readonly #team: TeamClient;
  readonly #pageSize: number;
  #builder = new TeamStateBuilder();
  #earlier: Promise<void> | undefined;

  constructor(team: TeamClient, options: TeamStoreOptions = {}) {
    super(CONNECTING, options);
    this.#team = team;
    this.#pageSize = options.pageSize ?? 50;
  }

  /** Starts a run. @throws ApiError `team_busy` while another run is active, unless `on_conflict` is set */
  send(task: Task, options: RunOptions & CallOptions = {}): Promise<RunInfo> {
    return this.#team.start(task, options);
  }

  /**
   * Sends a message into the run, which its agents read at their next step. @returns the id of the message
   *
   * @throws ApiError `run_ended` once the run has ended
   */
  async steer(content: string, options: SteerOptions = {}): Promise<{ id: string }> {
    return this.#team.steer(this.#run(), content, options);
  }

  /** Answers an open question: `{ content }` for an input, `{ approved }` for an approval. */
  async answer(request: Pick<HumanRequest, "id">, answer: Answer): Promise<AnsweredRun> {
    return this.#team.answer(this.#run(), request.id, answer);
  }

  /** Completes the run after its current turn, or cancels it now. */
  async stop(mode: "after_turn" | "now" = "after_turn"): Promise<RunInfo> {
    return this.#team.stop(this.#run(), mode);
  }

  async pause(): Promise<RunInfo> {
    return this.#team.pause(this.#run());
  }

  async resume(): Promise<RunInfo> {
    return this.#team.resume(this.#run());
  }

  /** Starts a run that continues where the last one failed or was cancelled. */
  async retry(): Promise<RunInfo> {
    return this.#team.retry(this.#run());
  }

  /** Loads the page of messages before the first one, if any. Calls in the meantime wait for the same page. */
  loadEarlier(): Promise<void> {
    return this.#loadOnce(undefined);
  }

  /** Loads all messages back to one, and shows them at once. @param seq 0 for the first one */
  async loadBackTo(seq: number): Promise<void> {
    await this.#earlier;
    return this.#loadOnce(seq);
  }

  protected override connect(signal: AbortSignal): void {
    this.#builder = new TeamStateBuilder();
    this.#earlier = undefined;
    void this.#follow(this.#builder, signal);
  }

  protected override read(): TeamState {
    return this.#builder.state();
  }

  async #follow(builder: TeamStateBuilder, signal: AbortSignal): Promise<void> {
    const items = this.#team.events({
      after: () => this.#loadLatest(builder),
      signal,
      patienceMs: Infinity,
      background: this.background,
      conversation: builder.conversation,
      onConnection: (state) => {
        if (signal.aborted) return;
        builder.connection(state);
        this.changed();
      },
    });
    try {
      for await (const item of items) {
        builder.apply(item);
        this.changed();
      }
    } catch (error) {
      if (signal.aborted) return;
      builder.fail(error as ApiError | ConnectionError);
      this.changed();
    }
  }

  /** Loads what the stream does not contain, before each connection: earlier messages and the queue. @returns the cursor */
  async #loadLatest(builder: TeamStateBuilder): Promise<number> {
    const isFirst = builder.last === undefined;
    const [queue, messages] = await Promise.all([
      isFirst || builder.queued.length > 0 ? this.#loadQueue() : undefined,
      isFirst ? this.#team.messages({ before: LATEST, limit: this.#pageSize }) : undefined,
    ]);
    if (queue !== undefined) builder.queue(queue);
    if (messages !== undefined) builder.prepend(messages);
    return builder.last ?? 0;
  }

  /** The queued runs: the first ones of the list. Most teams have none, and the tasks of others may be large. */
  async #loadQueue(): Promise<readonly RunInfo[]> {
    const { runs } = await this.#team.runs({ limit: 1, task: "preview" });
    return runs[0]?.status === "queued" ? (await this.#team.runs()).runs : [];
  }

  #loadOnce(seq: number | undefined): Promise<void> {
    this.#earlier ??= this.#loadEarlier(seq).finally(() => {
      this.#earlier = undefined;
    });
    return this.#earlier;
  }

  async #loadEarlier(seq: number | undefined): Promise<void> {
    const builder = this.#builder;
    const limit = seq === undefined ? this.#pageSize : MOST_MESSAGES;
    for (let { before } = builder; before !== null; { before } = builder) {
      builder.prepend(await this.#team.messages({ before, limit }));
      if (seq === undefined || (builder.before ?? 0) <= seq) break;
    }
    if (builder === this.#builder) this.changed();
  }

  /** @throws TypeError before the first run */
  #run(): string {
    const { run } = this.#builder;
    if (run === null) throw new TypeError(`team ${this.#team.id} has no run`);
    return run.id;
  }
}
