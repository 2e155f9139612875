import type {
  AnswersInput,
  ConversationModel,
  CreateConversationInput,
  CreateScheduleInput,
  CreateTeamInput,
  ForkTeamInput,
  Gateway,
  ReplaceOptions,
  ScheduleChanges,
  StartRunInput,
  TeamGateway,
} from "#contract/gateways/team-gateway.ts";
import type { Command } from "#contract/commands/command.ts";
import { runCommands } from "#contract/commands/runs.ts";
import { taskCommands } from "#contract/commands/tasks.ts";
import { scheduleCommands } from "#contract/commands/schedules.ts";
import { statePartCommands } from "#contract/commands/state-parts.ts";
import { teamCommands } from "#contract/commands/teams.ts";
import { approvalCommands } from "#contract/commands/approvals.ts";
import { versionCommands } from "#contract/commands/versions.ts";
import type { StatePage } from "#contract/gateways/state-gateway.ts";
import type { StagedState } from "#contract/team/state-parts.ts";
import type { Problem } from "#contract/problem.ts";
import type { Result } from "#contract/result.ts";
import type { RunInfo } from "#contract/run.ts";
import type { ScheduleInfo, SchedulePage } from "#contract/team/schedule.ts";
import type { TeamInfo } from "#contract/team.ts";
import { type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";

const TIME = "2026-01-02T03:04:05.000Z";

/** Teams in memory whose runs never begin: enough to see what the HTTP layer asks for and answers. */
export class FakeGateway implements Gateway {
  readonly teams = new Map<string, FakeTeam>();
  /** Thrown by every call, once set. */
  failure: Error | undefined;

  team(tenant: string, id: string): TeamGateway {
    if (this.failure) throw this.failure;
    const name = `${tenant}:${id}`;
    const team =
      this.teams.get(name) ??
      new FakeTeam(
        () => this.teams.delete(name),
        (other) => this.team(tenant, other),
      );
    this.teams.set(name, team);
    return withCommands(team);
  }
}

const COMMANDS: { readonly [name: string]: Command } = {
  ...teamCommands,
  ...runCommands,
  ...scheduleCommands,
  ...statePartCommands,
  ...taskCommands,
  ...approvalCommands,
  ...versionCommands,
};

/** A team with all commands: those that the fake does not have answer with what is at their path, unchanged. */
function withCommands(team: FakeTeam): TeamGateway {
  return new Proxy(team, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      const command = COMMANDS[String(name)];
      if (own !== undefined || command?.object !== "team") {
        return typeof own === "function" ? (own.bind(target) as unknown) : own;
      }
      return (...given: string[]) => target.unchanged(command, given);
    },
  }) as FakeTeam & TeamGateway;
}

class FakeTeam implements Partial<TeamGateway> {
  readonly #forget: () => void;
  readonly #other: (id: string) => TeamGateway;
  #info: TeamInfo | undefined;
  #created: CreateTeamInput | undefined;
  readonly #runs: RunInfo[] = [];
  readonly #starts: StartRunInput[] = [];
  readonly #schedules = new Map<string, ScheduleInfo>();

  constructor(forget: () => void, other: (id: string) => TeamGateway) {
    this.#forget = forget;
    this.#other = other;
  }

  /** Answers a command without an effect. */
  async unchanged({ path, answers }: Command, given: readonly string[]): Promise<Result<unknown>> {
    const names = Array.from(path.matchAll(/(?<=\/):(\w+)/g), ([, name]) => name).slice(1);
    const found: { [schema: string]: unknown } = {};
    for (const [index, name] of names.entries()) {
      const id = given[index] ?? "";
      const one = await (name === "run" ? this.run(id) : this.schedule(id));
      if (!one.ok) return one;
      found[name === "run" ? "Run" : "Schedule"] = one.value;
    }
    if (!this.#info) return refuse(404, "team_not_found");
    const [schema] = Object.values(answers).flatMap((answer) => Object.keys(answer.schema ?? {}));
    return ok(schema === undefined ? null : found[schema]);
  }

  async create(input: CreateTeamInput): Promise<Result<TeamInfo>> {
    if (this.#info) {
      const earlier = this.#created?.idempotency;
      if (!earlier || earlier.key !== input.idempotency?.key) {
        return refuse(409, "team_exists");
      }
      if (earlier.hash !== input.idempotency.hash) return refuse(422, "idempotency_key_reused");
      return ok(this.#info);
    }
    this.#created = input;
    const { id, label, metadata, component } = input;
    this.#info = {
      id,
      label,
      metadata,
      component,
      component_version: 1,
      status: "idle",
      active_run: null,
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      cost: null,
      turn: 0,
      forked_from: null,
      conversation: null,
      user: null,
      expires_in: null,
      created_at: TIME,
      updated_at: TIME,
    };
    return ok(this.#info);
  }

  async team(): Promise<Result<TeamInfo>> {
    return this.#info ? ok(this.#info) : refuse(404, "team_not_found");
  }

  async replaceComponent(
    component: TeamInfo["component"],
    { versions }: ReplaceOptions = {},
  ): Promise<Result<TeamInfo>> {
    if (!this.#info) return refuse(404, "team_not_found");
    if (versions?.includes(String(this.#info.component_version)) === false) {
      return refuse(412, "component_replaced");
    }
    if (this.#info.active_run !== null) return refuse(409, "team_busy");
    const component_version = this.#info.component_version + 1;
    this.#info = { ...this.#info, component, component_version };
    return ok(this.#info);
  }

  async destroy(): Promise<Result<{ reported: boolean }>> {
    if (!this.#info) return refuse(404, "team_not_found");
    this.#forget();
    return ok({ reported: true });
  }

  async creation(): Promise<Result<string>> {
    return this.#info ? ok("creation") : refuse(404, "team_not_found");
  }

  async isRevoked(): Promise<boolean> {
    return this.#info === undefined;
  }

  async revokeTokens(): Promise<Result<null>> {
    return this.#info ? ok(null) : refuse(404, "team_not_found");
  }

  async kept(): Promise<Result<JsonObject | null>> {
    return this.#info ? ok(null) : refuse(404, "team_not_found");
  }

  async keep(): Promise<Result<null>> {
    return this.#info ? ok(null) : refuse(404, "team_not_found");
  }

  async session(): Promise<Result<string>> {
    return this.#info ? ok("session") : refuse(404, "team_not_found");
  }

  reset(): Promise<Result<TeamInfo>> {
    return this.team();
  }

  async saveState(): Promise<Result<JsonObject>> {
    if (!this.#info) return refuse(404, "team_not_found");
    return ok({ type: "TeamState", version: "1.0.0", agent_states: {} });
  }

  async loadState(state: JsonObject): Promise<Result<null>> {
    if (!this.#info) return refuse(404, "team_not_found");
    if (state["type"] === "TeamState" && isJsonObject(state["agent_states"])) return ok(null);
    return refuse(422, "invalid_state", {
      errors: [{ path: "agent_states", message: "must be an object" }],
    });
  }

  async statePage(): Promise<Result<StatePage>> {
    if (!this.#info) return refuse(404, "team_not_found");
    return ok({ state: "state", turn: 0, cancelled: false, lines: [], next: null });
  }

  async beginStatePart(): Promise<Result<string>> {
    return this.#info ? ok("attempt") : refuse(404, "team_not_found");
  }

  async addStateLines(): Promise<Result<null>> {
    return ok(null);
  }

  endStatePart(): Promise<Result<StagedState>> {
    return this.stagedState();
  }

  async stagedState(): Promise<Result<StagedState>> {
    if (!this.#info) return refuse(404, "team_not_found");
    return ok({ state: null, parts: [], complete: false });
  }

  async visibleState(): Promise<Result<JsonObject>> {
    return ok({});
  }

  async messages(page: {
    after?: number;
    before?: number;
    limit: number;
  }): ReturnType<TeamGateway["messages"]> {
    if (!this.#info) return refuse(404, "team_not_found");
    const { after = 0, limit } = page;
    return ok({ messages: [], next_after: after + limit, next_before: page.before ?? null });
  }

  async conversationModel(): Promise<Result<ConversationModel>> {
    if (!this.#info) return refuse(404, "team_not_found");
    const { id: agent, label, metadata, component } = this.#info;
    return ok({ agent, label, metadata, component });
  }

  async conversationContext(): Promise<Result<string | null>> {
    return this.#info ? ok(null) : refuse(404, "team_not_found");
  }

  createConversation(
    { id }: CreateConversationInput,
    { label, metadata, component }: ConversationModel,
  ): Promise<Result<TeamInfo>> {
    return this.create({ id, label, metadata, component });
  }

  async fork({ id, turn, idempotency }: ForkTeamInput): Promise<Result<TeamInfo>> {
    if (!this.#info) return refuse(404, "team_not_found");
    if (turn !== null && turn > this.#info.turn) return refuse(422, "unknown_turn");
    const { label, metadata, component } = this.#info;
    return this.#other(id).create({
      id,
      label,
      metadata,
      component,
      ...(idempotency && { idempotency }),
    });
  }

  async startRun(input: StartRunInput): Promise<Result<RunInfo & { created: boolean }>> {
    if (!this.#info) return refuse(404, "team_not_found");
    const index = this.#starts.findIndex(
      ({ idempotency }) => idempotency && idempotency.key === input.idempotency?.key,
    );
    const repeated = this.#runs[index];
    if (repeated) return ok({ ...repeated, created: false });
    if (this.#info.active_run !== null && input.on_conflict === "reject") {
      return refuse(409, "team_busy", { extra: { run_id: this.#info.active_run } });
    }
    const queues = this.#info.active_run !== null && input.on_conflict === "queue";
    const run: RunInfo = {
      id: `run-${this.#runs.length + 1}`,
      team_id: this.#info.id,
      status: queues ? "queued" : "running",
      queue_position: queues ? 1 : null,
      component_version: queues ? null : this.#info.component_version,
      task: input.task as unknown as RunInfo["task"],
      stop_reason: null,
      error: null,
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      cost: null,
      models: {},
      turns: 0,
      turn: 0,
      requests: [],
      pause_requested: false,
      stop_requested: null,
      retry_of: null,
      next_attempt_at: null,
      metadata: input.metadata,
      created_at: TIME,
      started_at: queues ? null : TIME,
      ended_at: null,
    };
    this.#runs.push(run);
    this.#starts.push(input);
    if (!queues) this.#info = { ...this.#info, status: "running", active_run: run.id };
    return ok({ ...run, created: true });
  }

  async run(id: string): Promise<Result<RunInfo>> {
    if (!this.#info) return refuse(404, "team_not_found");
    const run = this.#runs.find((one) => one.id === id);
    return run ? ok(run) : refuse(404, "run_not_found");
  }

  async runTrace(id: string): ReturnType<TeamGateway["runTrace"]> {
    const found = await this.run(id);
    if (!found.ok) return found;
    const trace_id = "0".repeat(31) + "1";
    const page = { spans: [], dropped_spans: 0, next_cursor: null };
    return ok({ run_id: id, team_id: found.value.team_id, trace_id, ...page });
  }

  async runs({ limit }: { cursor?: string; limit: number }): ReturnType<TeamGateway["runs"]> {
    if (!this.#info) return refuse(404, "team_not_found");
    return ok({ runs: this.#runs.toReversed().slice(0, limit), next_cursor: null });
  }

  /** Ends the run, unless it may not take any time. */
  async waitForRun(id: string, timeoutMs: number): Promise<Result<RunInfo>> {
    const found = await this.run(id);
    if (found.ok && timeoutMs > 1000) this.#end(found.value, "completed");
    return this.run(id);
  }

  async stopRun(
    id: string,
    mode: "after_turn" | "now",
  ): Promise<Result<RunInfo & { repeated: boolean }>> {
    const found = await this.run(id);
    if (!found.ok) return found;
    if (found.value.ended_at !== null) return refuse(409, "run_ended");
    if (mode === "now") this.#end(found.value, "cancelled");
    const repeated = found.value.stop_reason !== null;
    found.value.stop_reason = "asked to stop";
    return ok({ ...found.value, repeated });
  }

  async retryRun(id: string): Promise<Result<RunInfo>> {
    const found = await this.run(id);
    if (!found.ok) return found;
    if (found.value.ended_at === null) return refuse(409, "run_not_ended");
    return ok({ ...found.value, id: "run-again", retry_of: id });
  }

  async requests(run: string): ReturnType<TeamGateway["requests"]> {
    const found = await this.run(run);
    if (!found.ok) return found;
    const created_at = TIME;
    return ok([
      {
        id: "q1",
        kind: "input",
        source: "user",
        prompt: "?",
        created_at,
        context: { messages: [], truncated: false },
        expires_at: null,
      },
    ]);
  }

  async answer(run: string, request: string, answer: JsonObject): Promise<Result<RunInfo>> {
    const found = await this.run(run);
    if (!found.ok) return found;
    if (request !== "q1") return refuse(404, "request_not_found");
    return ok({ ...found.value, metadata: { answer } });
  }

  async answers({ run, answers }: AnswersInput): Promise<Result<RunInfo>> {
    for (const { request, answer } of answers) {
      const answered = await this.answer(run, request, answer);
      if (!answered.ok) return answered;
    }
    return this.run(run);
  }

  async putPushConfig(run: string): Promise<Result<null>> {
    const found = await this.run(run);
    return found.ok ? ok(null) : found;
  }

  async pushConfigs(run: string): ReturnType<TeamGateway["pushConfigs"]> {
    const found = await this.run(run);
    return found.ok ? ok([]) : found;
  }

  deletePushConfig(run: string): Promise<Result<null>> {
    return this.putPushConfig(run);
  }

  async createSchedule(input: CreateScheduleInput): Promise<Result<ScheduleInfo>> {
    if (!this.#info) return refuse(404, "team_not_found");
    const {
      id = "schedule",
      cron = null,
      timezone = "UTC",
      at = null,
      idempotency: _,
      notify: __,
      ...rest
    } = input;
    const times = { cron, at, timezone: at === null ? timezone : null, next_at: TIME };
    const past = { last_at: null, last_run: null, last_error: null, created_at: TIME };
    const schedule = { id, team_id: this.#info.id, notify: [], ...times, ...rest, ...past };
    this.#schedules.set(id, schedule);
    return ok(schedule);
  }

  async schedules(): Promise<Result<SchedulePage>> {
    if (!this.#info) return refuse(404, "team_not_found");
    return ok({ schedules: [...this.#schedules.values()], next_cursor: null });
  }

  async schedule(id: string): Promise<Result<ScheduleInfo>> {
    if (!this.#info) return refuse(404, "team_not_found");
    const schedule = this.#schedules.get(id);
    return schedule ? ok(schedule) : refuse(404, "schedule_not_found");
  }

  async changeSchedule(id: string, changes: ScheduleChanges): Promise<Result<ScheduleInfo>> {
    const found = await this.schedule(id);
    if (!found.ok) return found;
    const { notify: _, ...others } = changes;
    const changed = { ...found.value, ...others };
    this.#schedules.set(id, changed);
    return ok(changed);
  }

  async deleteSchedule(id: string): Promise<Result<null>> {
    const found = await this.schedule(id);
    if (!found.ok) return found;
    this.#schedules.delete(id);
    return ok(null);
  }

  async runSchedule(id: string): Promise<Result<RunInfo>> {
    const found = await this.schedule(id);
    if (!found.ok) return found;
    const { task, on_conflict, metadata } = found.value;
    return this.startRun({ task, on_conflict, metadata } as StartRunInput);
  }

  async stream({
    run,
    after,
  }: {
    run: string | null;
    after: number;
  }): ReturnType<TeamGateway["stream"]> {
    if (run === null) {
      if (!this.#info) return refuse(404, "team_not_found");
    } else {
      const found = await this.run(run);
      if (!found.ok) return found;
      if (found.value.ended_at !== null && after > 0) return ok({ done: true });
    }
    const body = new Blob([`event: caught_up\ndata: {"after":${after}}\n\n`]).stream();
    return ok({ body });
  }

  async startStream(input: StartRunInput): ReturnType<TeamGateway["startStream"]> {
    const started = await this.startRun(input);
    if (!started.ok) return started;
    const { id: run, created } = started.value;
    const opened = await this.stream({ run, after: 0 });
    return opened.ok ? ok({ ...opened.value, run, created }) : opened;
  }

  async continueRun(
    input: AnswersInput,
    { after }: { after: number },
  ): ReturnType<TeamGateway["continueRun"]> {
    const answered = await this.answers(input);
    return answered.ok ? this.stream({ run: input.run, after }) : answered;
  }

  #end(run: RunInfo, status: "completed" | "cancelled"): void {
    run.status = status;
    run.ended_at = TIME;
    if (this.#info) this.#info = { ...this.#info, status: "idle", active_run: null };
  }
}

function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

function refuse(
  status: number,
  code: string,
  more: Partial<Problem> = {},
): { ok: false; problem: Problem } {
  return { ok: false, problem: { status, code, detail: `refused: ${code}`, ...more } };
}
