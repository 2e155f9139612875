import { Conversation, type StreamItem } from "./conversation.ts";
import { type ConnectionOptions, eventSource } from "./event-source.ts";
import { RunStream } from "./run-stream.ts";
import {
  type Call,
  type CallOptions,
  EVENT_STREAM,
  randomKey,
  type Transport,
  type Wake,
} from "./transport.ts";
import type {
  Answer,
  ChangeSchedule,
  CreateSchedule,
  CreateTeam,
  CreateToken,
  FileContent,
  FilePage,
  ForkTeam,
  HumanRequest,
  MessagePage,
  NotedTeam,
  RunInfo,
  RunOptions,
  RunPage,
  RunTrace,
  ScheduleInfo,
  SchedulePage,
  StagedState,
  Task,
  TeamToken,
} from "./wire.ts";

/** How {@link TeamClient.events} shows a team. */
export interface TeamEventsOptions extends Omit<ConnectionOptions, "onConnection"> {
  /**
   * The cursor to continue after: the `seq` of a message. A function that finds it may throw as a request does and is then
   * called again. Default: from the team's beginning.
   */
  after?: number | (() => Promise<number>) | undefined;
  /** False ends it after what has been recorded. Default true. */
  follow?: boolean | undefined;
  /** Collects what was said. Default: one of its own. */
  conversation?: Conversation | undefined;
  /** `live`: everything recorded was given, what follows is happening now. The others as in {@link ConnectionOptions}. */
  onConnection?: ((state: "open" | "live" | "lost") => void) | undefined;
}

/** One team. */
export class TeamClient {
  readonly id: string;
  readonly #transport: Transport;
  /** For streams that wait for what the client does next. */
  readonly #wake: Wake;

  constructor(transport: Transport, id: string) {
    this.#transport = transport;
    this.id = id;
    this.#wake = { target: transport.wakes, type: id };
  }

  /** The team with its component, whose secrets are redacted. */
  get(): Promise<NotedTeam> {
    return this.#json("");
  }

  /** Replaces the component and keeps the state that fits. */
  replaceComponent(component: NonNullable<CreateTeam["component"]>): Promise<NotedTeam> {
    return this.#json("/component", "PUT", { component });
  }

  /** Stops the run and erases everything. */
  delete(): Promise<void> {
    return this.#json("", "DELETE");
  }

  /** Clears the thread, contexts and counters. */
  reset(): Promise<NotedTeam> {
    return this.#json("/reset", "POST");
  }

  /** The last committed state, in AutoGen's format. */
  saveState(): Promise<{ [key: string]: unknown }> {
    return this.#json("/state");
  }

  loadState(state: object): Promise<void> {
    return this.#json("/state", "PUT", state);
  }

  /**
   * A part of the state, at most 50 MB, as the answer that carries it: lines of JSON, of which the last has the `next_cursor`.
   *
   * @param after number and cursor of the part; without it, the first part of the last committed state
   */
  statePart(
    after: { part?: number; cursor?: string } = {},
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<Response> {
    return this.#transport.send(this.#path("/state/parts"), { query: after, signal });
  }

  /** Stages a part that {@link statePart} gave. It may be sent again, and parts may come in any order after the first. */
  putStatePart(
    part: number,
    content: FileContent,
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<StagedState> {
    return this.#call(`/state/parts/${part}`, { method: "PUT", content, signal });
  }

  /** The parts that wait for their commit: what an interrupted load goes on with. */
  stagedState(): Promise<StagedState> {
    return this.#json("/state/staged");
  }

  discardStagedState(): Promise<void> {
    return this.#json("/state/staged", "DELETE");
  }

  /** Makes the staged parts the state of the team, all or nothing. @param state as {@link stagedState} names it */
  commitState(state: string): Promise<void> {
    return this.#json("/state/commit", "POST", { state });
  }

  /** A new team that goes on from the end of a turn. */
  async fork(options: ForkTeam = {}, call: CallOptions = {}): Promise<TeamClient> {
    const { id } = await this.#post<NotedTeam>("/fork", options, call);
    return new TeamClient(this.#transport, id);
  }

  /** A page of the thread, oldest first: the messages after a `seq`, or the last ones before it; `turn`: only of that one. */
  messages(
    query: { after?: number; before?: number; turn?: number; limit?: number } = {},
  ): Promise<MessagePage> {
    return this.#call("/messages", { query });
  }

  /**
   * Starts a run and shows it. The run goes on when the loop is left or the connection is lost; it is started once, however
   * often the request has to be repeated.
   *
   * @example
   * for await (const item of team.run("Write a haiku.")) {
   *   if (item.kind === "text") process.stdout.write(item.delta ?? item.text.content);
   * }
   */
  run(task: Task, options: RunOptions & CallOptions = {}): RunStream {
    const { signal, idempotencyKey = randomKey(), ...body } = options;
    return this.#stream(undefined, signal, (aborted) =>
      this.#transport.send(this.#path("/runs"), {
        method: "POST",
        body: { ...body, task },
        headers: EVENT_STREAM,
        idempotencyKey,
        signal: aborted,
      }),
    );
  }

  /** Starts a run and returns without waiting for it. */
  start(task: Task, options: RunOptions & CallOptions = {}): Promise<RunInfo> {
    const { signal, idempotencyKey, ...body } = options;
    return this.#wakeAfter(this.#post("/runs", { ...body, task }, { signal, idempotencyKey }));
  }

  /** Shows a run that was started elsewhere, from its beginning. */
  watch(run: string, { signal }: Pick<CallOptions, "signal"> = {}): RunStream {
    return this.#stream(run, signal, () => Promise.reject(new TypeError("the run is known")));
  }

  /** Everything that happens in the team, in all its runs, until the loop is left. */
  async *events(options: TeamEventsOptions = {}): AsyncGenerator<StreamItem, void, void> {
    const { after, follow = true, conversation = new Conversation(), ...connection } = options;
    const open = async (lastId: string | undefined, signal: AbortSignal): Promise<Response> => {
      const query = { after: typeof after === "function" ? await after() : after };
      return this.#transport.stream(this.#path("/events"), lastId, signal, query);
    };
    for await (const event of eventSource({ ...connection, open, wake: this.#wake })) {
      if (event.event === "caught_up") connection.onConnection?.("live");
      yield* conversation.apply(event);
      if (!follow && event.event === "caught_up") return;
    }
  }

  /** A run, with its result once it is completed. */
  getRun(run: string): Promise<RunInfo> {
    return this.#json(`/runs/${run}`);
  }

  runs(query: { limit?: number; cursor?: string } = {}): Promise<RunPage> {
    return this.#call("/runs", { query });
  }

  /** What a run did, as spans: a page of its turns, the run itself on the first one. */
  trace(run: string, query: { limit?: number; cursor?: string } = {}): Promise<RunTrace> {
    return this.#call(`/runs/${run}/trace`, { query });
  }

  /** Completes the run after its current turn, or cancels it now. */
  stop(run: string, mode: "after_turn" | "now" = "after_turn"): Promise<RunInfo> {
    return this.#wakeAfter(this.#json(`/runs/${run}/stop`, "POST", { mode }));
  }

  pause(run: string): Promise<RunInfo> {
    return this.#json(`/runs/${run}/pause`, "POST");
  }

  resume(run: string): Promise<RunInfo> {
    return this.#wakeAfter(this.#json(`/runs/${run}/resume`, "POST"));
  }

  /** Starts a run that goes on where a failed or cancelled one ended. */
  retry(run: string, call: CallOptions = {}): Promise<RunInfo> {
    return this.#wakeAfter(this.#post(`/runs/${run}/retry`, {}, call));
  }

  /** Open questions of a run to humans. */
  async requests(run: string): Promise<HumanRequest[]> {
    const { requests } = await this.#json<{ requests: HumanRequest[] }>(`/runs/${run}/requests`);
    return requests;
  }

  /** Answers a question: `{ content }` for an input, `{ approved }` for an approval. */
  answer(run: string, request: string, answer: Answer): Promise<RunInfo> {
    return this.#wakeAfter(this.#json(`/runs/${run}/requests/${request}`, "POST", answer));
  }

  createSchedule(schedule: CreateSchedule, call: CallOptions = {}): Promise<ScheduleInfo> {
    return this.#post("/schedules", schedule, call);
  }

  schedules(query: { limit?: number; cursor?: string } = {}): Promise<SchedulePage> {
    return this.#call("/schedules", { query });
  }

  schedule(id: string): Promise<ScheduleInfo> {
    return this.#json(`/schedules/${id}`);
  }

  changeSchedule(id: string, changes: ChangeSchedule): Promise<ScheduleInfo> {
    return this.#json(`/schedules/${id}`, "PATCH", changes);
  }

  deleteSchedule(id: string): Promise<void> {
    return this.#json(`/schedules/${id}`, "DELETE");
  }

  runSchedule(id: string, call: CallOptions = {}): Promise<RunInfo> {
    return this.#wakeAfter(this.#post(`/schedules/${id}/run_now`, {}, call));
  }

  /** The files of the workspace that the team's code reads and writes, sorted by path. */
  files(query: { limit?: number; cursor?: string } = {}): Promise<FilePage> {
    return this.#call("/files", { query });
  }

  /**
   * A file, as the answer that carries it: take its `body`, `blob()` or `text()`.
   *
   * @param path relative, with slashes
   */
  readFile(path: string, { signal }: Pick<CallOptions, "signal"> = {}): Promise<Response> {
    return this.#transport.send(this.#path(file(path)), { signal });
  }

  /** Writes a file, with the directories that it is in. */
  writeFile(
    path: string,
    content: FileContent,
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<void> {
    return this.#call(file(path), { method: "PUT", content, signal });
  }

  deleteFile(path: string): Promise<void> {
    return this.#json(file(path), "DELETE");
  }

  /** A token for this team only, for browsers. */
  createToken(token: CreateToken): Promise<TeamToken> {
    return this.#json("/tokens", "POST", token);
  }

  /** Revokes a token of this team at once; without an id all that were made until now. */
  revokeTokens(id?: string): Promise<void> {
    return this.#json(id === undefined ? "/tokens" : `/tokens/${encodeURIComponent(id)}`, "DELETE");
  }

  #stream(
    run: string | undefined,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<Response>,
  ): RunStream {
    const resume = (id: string, lastId: string | undefined, aborted: AbortSignal) =>
      this.#transport.stream(this.#path(`/runs/${id}/events`), lastId, aborted);
    const load = (id: string): Promise<RunInfo> => this.getRun(id);
    return new RunStream({ start, resume, load, wake: this.#wake, signal }, run);
  }

  /** Streams that wait for the answer reconnect at once. */
  async #wakeAfter<T>(answer: Promise<T>): Promise<T> {
    const value = await answer;
    this.#wake.target.dispatchEvent(new Event(this.#wake.type));
    return value;
  }

  #path(rest: string): string {
    return `/v1/teams/${encodeURIComponent(this.id)}${rest}`;
  }

  #json<T>(path: string, method?: Call["method"], body?: unknown): Promise<T> {
    return this.#call(path, { method, body });
  }

  #post<T>(path: string, body: object, call: CallOptions): Promise<T> {
    return this.#transport.post(this.#path(path), body, call);
  }

  #call<T>(path: string, call: Call): Promise<T> {
    return this.#transport.json(this.#path(path), call);
  }
}

/** @param path of a file, with slashes */
function file(path: string): string {
  return `/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}
