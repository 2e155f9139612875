import type { DecisionPage, StoredApprovalPage } from "../../contract/approval.ts";
import type { ModelRequest } from "../../contract/team/model-request.ts";
import type { AddTask, ChangeTask, TaskOnBoard, TasksOfTeam } from "../../contract/team/board.ts";
import type { RunTrace } from "../../contract/team/trace.ts";
import type {
  TeamVersion,
  TeamVersionPage,
  VersionWithComponent,
} from "../../contract/team/version.ts";
import type { NotifyInfo, ReceiverInput } from "../../contract/notify.ts";
import type { TeamTool } from "../../contract/team-tool.ts";
import type { GivenTeamTool } from "../http/wire.ts";
import type {
  CreatedTrigger,
  TriggerDeliveryPage,
  TriggerInfo,
  TriggerPage,
  TriggerSecret,
} from "../../contract/team/trigger.ts";
import type { JsonObject } from "../../core/json.ts";
import { CommandSender } from "../http/commands.ts";
import { Conversation, type StreamItem } from "./conversation.ts";
import { type ConnectionOptions, eventSource } from "../http/event-source.ts";
import { RunStream, type SteerOptions } from "./run-stream.ts";
import {
  type Call,
  type CallOptions,
  EVENT_STREAM,
  randomKey,
  type Transport,
  type Wake,
} from "../http/transport.ts";
import type {
  Answer,
  AnsweredRun,
  ChangeSchedule,
  ChangeVersion,
  CreateSchedule,
  CreateTeam,
  CreateToken,
  FileContent,
  FilePage,
  ForkTeam,
  AskedRequest,
  HumanRequest,
  MessagePage,
  NotedTeam,
  PutTrigger,
  RotateTrigger,
  RunInfo,
  RunOptions,
  RunPage,
  FoundMessages,
  ScheduleInfo,
  SchedulePage,
  SharedConversation,
  StagedState,
  Task,
  TeamToken,
  TeamTokens,
  TurnPage,
} from "../http/wire.ts";

export type { AddTask, ChangeTask, TaskOnBoard, TasksOfTeam } from "../../contract/team/board.ts";
export type {
  CreatedTrigger,
  TriggerDelivery,
  TriggerDeliveryPage,
  TriggerInfo,
  TriggerPage,
  TriggerSecret,
} from "../../contract/team/trigger.ts";
export type {
  Decision,
  DecisionPage,
  GivenApproval,
  StoredApproval,
  StoredApprovalPage,
} from "../../contract/approval.ts";
export type { ModelRequest } from "../../contract/team/model-request.ts";
export type { NotifyInfo, ReceiverInput, ShownReceiver } from "../../contract/notify.ts";
export type { TeamTool } from "../../contract/team-tool.ts";
export type { GivenTeamTool } from "../http/wire.ts";
export type { RunTrace, TraceSpan } from "../../contract/team/trace.ts";
export type {
  TeamVersion,
  TeamVersionPage,
  VersionWithComponent,
} from "../../contract/team/version.ts";

/** Options of {@link TeamClient.events}. */
export interface TeamEventsOptions extends Omit<ConnectionOptions, "onConnection"> {
  /**
   * The cursor to continue after: the `seq` of a message, or a function that returns it and may throw as a request does; it is
   * then called again. Default: the beginning of the team.
   */
  after?: number | (() => Promise<number>) | undefined;
  /** False ends the stream after the recorded frames. Default true. */
  follow?: boolean | undefined;
  /** Collects the messages. Default: a new conversation. */
  conversation?: Conversation | undefined;
  /** `live`: all recorded frames were yielded, and the following ones are live. The others as in {@link ConnectionOptions}. */
  onConnection?: ((state: "open" | "live" | "lost") => void) | undefined;
}

/** Options of {@link TeamClient.watch}. */
export interface WatchOptions extends Pick<CallOptions, "signal"> {
  /** Called on each connection when all recorded frames were yielded; the following ones are live. */
  onLive?: (() => void) | undefined;
}

/** Options of {@link TeamClient.replaceComponent}. */
export interface ReplaceOptions extends Pick<CallOptions, "signal"> {
  /**
   * The `component_version` that was changed. If the team has another one by now, nothing is replaced, and the call throws an
   * `ApiError` with the code `component_replaced`. Default: any version is replaced.
   */
  version?: number | undefined;
}

/** One team. */
export class TeamClient {
  readonly id: string;
  readonly #transport: Transport;
  readonly #commands: CommandSender<"team">;
  /** Signals streams that wait for the client's next call. */
  readonly #wake: Wake;

  constructor(transport: Transport, id: string) {
    this.#transport = transport;
    this.#commands = new CommandSender(transport, { team: id });
    this.id = id;
    this.#wake = { target: transport.wakes, type: id };
  }

  /** The team with its component, whose secrets are redacted. */
  get(): Promise<NotedTeam> {
    return this.#commands.json("GET /v1/teams/:team", {});
  }

  /** Replaces the component and keeps the state that still fits. */
  replaceComponent(
    component: NonNullable<CreateTeam["component"]>,
    options: ReplaceOptions = {},
  ): Promise<NotedTeam> {
    return this.#commands.json(
      "PUT /v1/teams/:team/component",
      {},
      { body: { component }, ...onlyReplacing(options) },
    );
  }

  /** The board of tasks that its agents share: `troupe.memory.TaskBoard`. */
  readonly tasks = {
    list: (): Promise<TasksOfTeam> => this.#commands.json("GET /v1/teams/:team/tasks", {}),

    add: (task: AddTask, call: CallOptions = {}): Promise<TaskOnBoard> =>
      this.#commands.once("POST /v1/teams/:team/tasks", {}, task, call),

    change: (task: string, changes: ChangeTask): Promise<TaskOnBoard> =>
      this.#commands.json("PATCH /v1/teams/:team/tasks/:task", { task }, { body: changes }),

    delete: (task: string): Promise<void> =>
      this.#commands.json("DELETE /v1/teams/:team/tasks/:task", { task }),
  };

  /** Addresses at which events from outside start runs of the team. */
  readonly triggers = {
    /** A page, by id. */
    list: (query: { limit?: number; cursor?: string } = {}): Promise<TriggerPage> =>
      this.#commands.json("GET /v1/teams/:team/triggers", {}, { query }),
    get: (trigger: string): Promise<TriggerInfo> =>
      this.#commands.json("GET /v1/teams/:team/triggers/:trigger", { trigger }),
    /** Creates or replaces a trigger. A secret that was made for it is in this response only. */
    put: (trigger: string, input: PutTrigger): Promise<CreatedTrigger> =>
      this.#commands.json("PUT /v1/teams/:team/triggers/:trigger", { trigger }, { body: input }),
    delete: (trigger: string): Promise<void> =>
      this.#commands.json("DELETE /v1/teams/:team/triggers/:trigger", { trigger }),
    /** Gives it another secret. The one before stays valid for a day unless it is revoked. */
    rotateSecret: (trigger: string, options?: RotateTrigger): Promise<TriggerSecret> =>
      this.#commands.json(
        "POST /v1/teams/:team/triggers/:trigger/rotate_secret",
        { trigger },
        { body: options },
      ),
    /** The events of the last seven days, newest first. */
    deliveries: (
      trigger: string,
      query: { limit?: number; cursor?: string } = {},
    ): Promise<TriggerDeliveryPage> =>
      this.#commands.json(
        "GET /v1/teams/:team/triggers/:trigger/deliveries",
        { trigger },
        { query },
      ),
  };

  /** The components that the team has had: each change of its component makes a version. */
  readonly versions = {
    /** A page, newest first. */
    list: (query: { limit?: number; cursor?: string } = {}): Promise<TeamVersionPage> =>
      this.#commands.json("GET /v1/teams/:team/versions", {}, { query }),
    /** A version with its component, whose secrets are redacted. */
    get: (version: number): Promise<VersionWithComponent> =>
      this.#commands.json("GET /v1/teams/:team/versions/:version", { version }),
    /** Changes its label, which is taken from the version that has it, or its note. */
    label: (version: number, changes: ChangeVersion): Promise<TeamVersion> =>
      this.#commands.json("PUT /v1/teams/:team/versions/:version", { version }, { body: changes }),
    /** Makes its component the team's again, as a new version. @param options as of {@link replaceComponent} */
    restore: (version: number, options: ReplaceOptions = {}): Promise<NotedTeam> =>
      this.#commands.json(
        "POST /v1/teams/:team/versions/:version/restore",
        { version },
        onlyReplacing(options),
      ),
  };

  /** Stops the run and erases all data of the team. */
  delete(): Promise<void> {
    return this.#commands.json("DELETE /v1/teams/:team", {});
  }

  /** Clears the thread, contexts and counters. */
  reset(): Promise<NotedTeam> {
    return this.#commands.json("POST /v1/teams/:team/reset", {});
  }

  /** The last committed state, in AutoGen's format. */
  saveState(): Promise<{ [key: string]: unknown }> {
    return this.#commands.json("GET /v1/teams/:team/state", {});
  }

  loadState(state: object): Promise<void> {
    return this.#commands.json("PUT /v1/teams/:team/state", {}, { body: state as JsonObject });
  }

  /**
   * A part of the state, at most 50 MB, as the HTTP response: lines of JSON. The last line has the `next_cursor`.
   *
   * @param after number and cursor of the part; without it, the first part of the last committed state
   */
  statePart(
    after: { part?: number; cursor?: string } = {},
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<Response> {
    return this.#commands.send("GET /v1/teams/:team/state/parts", {}, { query: after, signal });
  }

  /** Stages a part from {@link statePart}. A part may be sent again, and parts after the first may be sent in any order. */
  putStatePart(
    part: number,
    content: FileContent,
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<StagedState> {
    return this.#commands.json(
      "PUT /v1/teams/:team/state/parts/:part",
      { part },
      { content, signal },
    );
  }

  /** The staged parts that wait for their commit, so that an interrupted load can continue. */
  stagedState(): Promise<StagedState> {
    return this.#commands.json("GET /v1/teams/:team/state/staged", {});
  }

  discardStagedState(): Promise<void> {
    return this.#commands.json("DELETE /v1/teams/:team/state/staged", {});
  }

  /** Makes the staged parts the state of the team, all or none. @param state the id from {@link stagedState} */
  commitState(state: string): Promise<void> {
    return this.#commands.json("POST /v1/teams/:team/state/commit", {}, { body: { state } });
  }

  /** Creates a team that continues from the end of a turn. */
  async fork(options: ForkTeam = {}, call: CallOptions = {}): Promise<TeamClient> {
    const { id } = await this.#commands.once("POST /v1/teams/:team/fork", {}, options, call);
    return new TeamClient(this.#transport, id);
  }

  /** A page of the thread, oldest first: the messages after a `seq`, or the last ones before it. `turn` selects one turn. */
  messages(
    query: { after?: number; before?: number; turn?: number; limit?: number } = {},
  ): Promise<MessagePage> {
    return this.#commands.json("GET /v1/teams/:team/messages", {}, { query });
  }

  /** A page of the finished turns, oldest first: those after a turn, or the last ones before it. */
  turns(query: { after?: number; before?: number; limit?: number } = {}): Promise<TurnPage> {
    return this.#commands.json("GET /v1/teams/:team/turns", {}, { query });
  }

  /**
   * Starts a run and follows it. The run continues when the loop is left or the connection is lost. It is started exactly once,
   * even if the request is repeated.
   *
   * @example
   * for await (const item of team.run("Write a haiku.")) {
   *   if (item.kind === "text") process.stdout.write(item.delta ?? item.text.content);
   * }
   */
  run(task: Task, options: RunOptions & CallOptions = {}): RunStream {
    const { signal, idempotencyKey = randomKey(), ...body } = options;
    return this.#stream(undefined, signal, (aborted) =>
      this.#commands.send(
        "POST /v1/teams/:team/runs",
        {},
        {
          body: { ...body, task },
          headers: EVENT_STREAM,
          idempotencyKey,
          signal: aborted,
        },
      ),
    );
  }

  /** Starts a run and returns without waiting for it. */
  start(task: Task, options: RunOptions & CallOptions = {}): Promise<RunInfo> {
    const { signal, idempotencyKey, ...body } = options;
    return this.#wakeAfter(
      this.#commands.once(
        "POST /v1/teams/:team/runs",
        {},
        { ...body, task },
        { signal, idempotencyKey },
      ),
    );
  }

  /** Follows a run that was started elsewhere, from its beginning. */
  watch(run: string, { signal, onLive }: WatchOptions = {}): RunStream {
    const start = (): Promise<never> => Promise.reject(new TypeError("the run is known"));
    return this.#stream(run, signal, start, onLive);
  }

  /** Follows everything in the team, in all its runs, until the loop is left. */
  events(options: TeamEventsOptions = {}): AsyncGenerator<StreamItem, void, void> {
    return this.#events("GET /v1/teams/:team/events", options);
  }

  /**
   * Follows the conversation as far as the credential may see it: messages, and texts while they are written, until the loop is
   * left. @throws ApiError 401 when the credential has ended
   */
  conversationEvents(options: TeamEventsOptions = {}): AsyncGenerator<StreamItem, void, void> {
    return this.#events("GET /v1/teams/:team/conversation/events", options);
  }

  async *#events(
    route: "GET /v1/teams/:team/events" | "GET /v1/teams/:team/conversation/events",
    options: TeamEventsOptions,
  ): AsyncGenerator<StreamItem, void, void> {
    const { after, follow = true, conversation = new Conversation(), ...connection } = options;
    const open = async (lastId: string | undefined, signal: AbortSignal): Promise<Response> => {
      const query = { after: typeof after === "function" ? await after() : after };
      return this.#commands.stream(route, {}, lastId, signal, query);
    };
    for await (const event of eventSource({ ...connection, open, wake: this.#wake })) {
      if (event.event === "caught_up") connection.onConnection?.("live");
      yield* conversation.apply(event);
      if (!follow && event.event === "caught_up") return;
    }
  }

  /** A run, with its result once it is completed. */
  getRun(run: string): Promise<RunInfo> {
    return this.#commands.json("GET /v1/teams/:team/runs/:run", { run });
  }

  /** Runs, newest first. @param query `task: "preview"`: each task is its first 300 characters as text */
  runs(query: { limit?: number; cursor?: string; task?: "preview" } = {}): Promise<RunPage> {
    return this.#commands.json("GET /v1/teams/:team/runs", {}, { query });
  }

  /** Messages that contain a text, the latest first. */
  findMessages(query: { q: string; before?: number; limit?: number }): Promise<FoundMessages> {
    return this.#commands.json("GET /v1/teams/:team/messages/search", {}, { query });
  }

  /** The steps of a run as spans: a page of its turns, the run itself on the first page. */
  trace(run: string, query: { limit?: number; cursor?: string } = {}): Promise<RunTrace> {
    return this.#commands.json("GET /v1/teams/:team/runs/:run/trace", { run }, { query });
  }

  /**
   * The request to a model in a step, and its answer. @param step the `span_id` of a span of the kind `chat`
   * @throws ApiError `request_not_known` if the request cannot be built again
   */
  modelRequest(run: string, step: string): Promise<ModelRequest> {
    return this.#commands.json("GET /v1/teams/:team/runs/:run/steps/:step/request", {
      run,
      step,
    });
  }

  /**
   * Sends a message into a run, which its agents read at their next step. @param options `to`: only this agent gets it
   * @returns the id of the message
   * @throws ApiError `run_ended` once the run has ended
   */
  steer(run: string, content: string, { to, ...call }: SteerOptions = {}): Promise<{ id: string }> {
    return this.#commands.once(
      "POST /v1/teams/:team/runs/:run/messages",
      { run },
      { content, ...(to !== undefined && { to }) },
      call,
    );
  }

  /** Gives a queued run another task. @throws ApiError `run_started` once it is not queued any more */
  changeQueued(run: string, task: Task): Promise<RunInfo> {
    return this.#commands.json("PATCH /v1/teams/:team/runs/:run", { run }, { body: { task } });
  }

  /** Completes the run after its current turn, or cancels it now. */
  stop(run: string, mode: "after_turn" | "now" = "after_turn"): Promise<RunInfo> {
    return this.#wakeAfter(
      this.#commands.json("POST /v1/teams/:team/runs/:run/stop", { run }, { body: { mode } }),
    );
  }

  pause(run: string): Promise<RunInfo> {
    return this.#commands.json("POST /v1/teams/:team/runs/:run/pause", { run });
  }

  resume(run: string): Promise<RunInfo> {
    return this.#wakeAfter(this.#commands.json("POST /v1/teams/:team/runs/:run/resume", { run }));
  }

  /** Starts a run that continues where a failed or cancelled one ended. */
  retry(run: string, call: CallOptions = {}): Promise<RunInfo> {
    return this.#wakeAfter(
      this.#commands.once("POST /v1/teams/:team/runs/:run/retry", { run }, {}, call),
    );
  }

  /** Open questions of a run to humans. */
  async requests(run: string): Promise<HumanRequest[]> {
    const { requests } = await this.#commands.json("GET /v1/teams/:team/runs/:run/requests", {
      run,
    });
    return requests;
  }

  /** A question of a run, open or answered, with its answer. One that the run withdrew is a 404. */
  request(run: string, request: string): Promise<AskedRequest> {
    return this.#commands.json("GET /v1/teams/:team/runs/:run/requests/:request", {
      run,
      request,
    });
  }

  /** Answers a question: `{ content }` for an input, `{ approved }` for an approval. */
  answer(run: string, request: string, answer: Answer): Promise<AnsweredRun> {
    return this.#wakeAfter(
      this.#commands.json(
        "POST /v1/teams/:team/runs/:run/requests/:request",
        { run, request },
        { body: answer },
      ),
    );
  }

  /** The receivers of messages about the team, without their secrets. */
  notify(): Promise<NotifyInfo> {
    return this.#commands.json("GET /v1/teams/:team/notify", {});
  }

  /** Replaces the receivers. One that is given as it is shown keeps its secret. */
  putNotify(notify: readonly ReceiverInput[]): Promise<NotifyInfo> {
    return this.#commands.json("PUT /v1/teams/:team/notify", {}, { body: { notify: [...notify] } });
  }

  /** The team's own tool for clients of MCP. */
  tool(): Promise<TeamTool> {
    return this.#commands.json("GET /v1/teams/:team/tool", {});
  }

  /** Sets the team's own tool for clients of MCP. */
  putTool(tool: GivenTeamTool): Promise<TeamTool> {
    return this.#commands.json("PUT /v1/teams/:team/tool", {}, { body: tool });
  }

  deleteTool(): Promise<void> {
    return this.#commands.json("DELETE /v1/teams/:team/tool", {});
  }

  /** The decisions about a run's calls that need approval, oldest first. */
  decisions(run: string, query: { limit?: number; cursor?: string } = {}): Promise<DecisionPage> {
    return this.#commands.json("GET /v1/teams/:team/runs/:run/decisions", { run }, { query });
  }

  /** The stored approvals: calls that need no human any more. */
  approvals(query: { limit?: number; cursor?: string } = {}): Promise<StoredApprovalPage> {
    return this.#commands.json("GET /v1/teams/:team/approvals", {}, { query });
  }

  revokeApproval(approval: string): Promise<void> {
    const path = { approval };
    return this.#commands.json("DELETE /v1/teams/:team/approvals/:approval", path);
  }

  createSchedule(schedule: CreateSchedule, call: CallOptions = {}): Promise<ScheduleInfo> {
    return this.#commands.once("POST /v1/teams/:team/schedules", {}, schedule, call);
  }

  schedules(query: { limit?: number; cursor?: string } = {}): Promise<SchedulePage> {
    return this.#commands.json("GET /v1/teams/:team/schedules", {}, { query });
  }

  schedule(id: string): Promise<ScheduleInfo> {
    return this.#commands.json("GET /v1/teams/:team/schedules/:schedule", {
      schedule: id,
    });
  }

  changeSchedule(id: string, changes: ChangeSchedule): Promise<ScheduleInfo> {
    return this.#commands.json(
      "PATCH /v1/teams/:team/schedules/:schedule",
      { schedule: id },
      { body: changes },
    );
  }

  deleteSchedule(id: string): Promise<void> {
    return this.#commands.json("DELETE /v1/teams/:team/schedules/:schedule", {
      schedule: id,
    });
  }

  runSchedule(id: string, call: CallOptions = {}): Promise<RunInfo> {
    return this.#wakeAfter(
      this.#commands.once(
        "POST /v1/teams/:team/schedules/:schedule/run_now",
        { schedule: id },
        {},
        call,
      ),
    );
  }

  /** The files in the workspace of the team's code, sorted by path. */
  files(query: { limit?: number; cursor?: string } = {}): Promise<FilePage> {
    return this.#commands.json("GET /v1/teams/:team/files", {}, { query });
  }

  /**
   * A file, as the HTTP response: read its `body`, `blob()` or `text()`.
   *
   * @param path relative, with slashes
   */
  readFile(path: string, { signal }: Pick<CallOptions, "signal"> = {}): Promise<Response> {
    return this.#commands.send("GET /v1/teams/:team/files/:path", { path }, { signal });
  }

  /** Writes a file and creates its directories. */
  writeFile(
    path: string,
    content: FileContent,
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<void> {
    return this.#commands.json("PUT /v1/teams/:team/files/:path", { path }, { content, signal });
  }

  deleteFile(path: string): Promise<void> {
    return this.#commands.json("DELETE /v1/teams/:team/files/:path", { path });
  }

  /** Creates a token for this team only, for browsers. */
  createToken(token: CreateToken): Promise<TeamToken> {
    return this.#commands.json("POST /v1/teams/:team/tokens", {}, { body: token });
  }

  /** The tokens and links of this team that have not ended, newest first; pass `next_cursor` as `cursor` for the next page. */
  tokens(query: { limit?: number; cursor?: string } = {}): Promise<TeamTokens> {
    return this.#commands.json("GET /v1/teams/:team/tokens", {}, { query });
  }

  /** The conversation as far as the credential may see it: what a link that shares it shows. */
  conversation(
    query: { after?: number; before?: number; limit?: number } = {},
  ): Promise<SharedConversation> {
    return this.#commands.json("GET /v1/teams/:team/conversation", {}, { query });
  }

  /** Revokes a token of this team at once; without an id, all tokens so far. */
  revokeTokens(id?: string): Promise<void> {
    return id === undefined
      ? this.#commands.json("DELETE /v1/teams/:team/tokens", {})
      : this.#commands.json("DELETE /v1/teams/:team/tokens/:token", { token: id });
  }

  #stream(
    run: string | undefined,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<Response>,
    onLive?: () => void,
  ): RunStream {
    const resume = (id: string, lastId: string | undefined, aborted: AbortSignal) =>
      this.#commands.stream("GET /v1/teams/:team/runs/:run/events", { run: id }, lastId, aborted);
    const load = (id: string): Promise<RunInfo> => this.getRun(id);
    const steer: TeamClient["steer"] = (...message) => this.steer(...message);
    return new RunStream({ start, resume, load, steer, wake: this.#wake, signal, onLive }, run);
  }

  /** Makes streams that wait for the answer reconnect at once. */
  async #wakeAfter<T>(answer: Promise<T>): Promise<T> {
    const value = await answer;
    this.#wake.target.dispatchEvent(new Event(this.#wake.type));
    return value;
  }
}

function onlyReplacing({ version, signal }: ReplaceOptions): Pick<Call, "headers" | "signal"> {
  return { headers: { "if-match": version === undefined ? undefined : `"${version}"` }, signal };
}
