import { DurableObject } from "cloudflare:workers";
import { stackOf } from "../../core/errors.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LogEntry } from "../../core/log.ts";
import type {
  ConversationModel,
  CreateConversationInput,
  CreateScheduleInput,
  CreateTeamInput,
  Idempotency,
  ScheduleChanges,
  StartedStream,
  StartRunInput,
  TokenOfTeam,
} from "../../contract/gateways/team-gateway.ts";
import type { PushConfig, SecretPushConfig } from "../../contract/webhooks/push.ts";
import type { HumanRequest, RunInfo, RunPage } from "../../contract/run.ts";
import type { ScheduleInfo, SchedulePage } from "../../contract/schedule.ts";
import type { MessagePage, MessageQuery, TeamInfo } from "../../contract/team.ts";
import type { FormatCode, StreamFormat } from "../../contract/stream/stream-format.ts";
import type { Result } from "../../contract/result.ts";
import type { RunTrace } from "../../contract/trace.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import { sha256Hex } from "../../core/sha256.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { within } from "../../core/within.ts";
import type { ComponentSecrets } from "../../secrets/component-secrets.ts";
import { tenantLimitsFrom } from "../../contract/tenant-limits.ts";
import type { TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { Listing } from "../outbox/listing.ts";
import { createTeam, type NewTeam } from "./create-team.ts";
import type {
  ForkCursor,
  ForkPage,
  ForkPoint,
  ForkPosition,
  ForkProgress,
  ForkRequest,
} from "../fork/fork.ts";
import { ForkSource } from "../fork/fork-source.ts";
import { ok } from "../../contract/result.ts";
import { stillBeingDeleted, teamNotFound } from "./refusals.ts";
import { RevokedTokens } from "./revoked-tokens.ts";
import { RunInputs } from "./run-inputs.ts";
import { ONE_OWNER, type SecretOwners } from "../../secrets/kept-secrets.ts";
import type { StatePage } from "../../contract/gateways/state-gateway.ts";
import type { StagedState, StatePartEnd, StatePartHeader } from "../../contract/state-parts.ts";
import { SealedSecrets } from "../../secrets/sealed-secrets.ts";
import { Sealer } from "../../secrets/sealer.ts";
import { EncodedFrames, type FrameWriter, nativeFrames } from "../stream/frames.ts";
import type { StreamClient } from "../stream/stream-places.ts";
import { openStream, type StreamCall, streamResponse } from "../stream/stream-request.ts";
import { TeamHolder } from "./team-holder.ts";
import { placeOfRun, placeOfStream, refuseRun } from "./team-parts.ts";

/** Limit of the wait for the tenant before a creation, or a run that was waited for, is answered. */
const LISTED_WITHIN_MS = 1_000;

/**
 * A team as a Durable Object: the conversation, every agent's context, one run at a time. A deployment subclasses it
 * and implements {@link build}.
 *
 * Its methods implement {@link TeamGateway}.
 */
export abstract class TroupeTeam<Env = unknown> extends DurableObject<Env> {
  readonly #listing: Listing;
  readonly #secrets: ComponentSecrets;
  readonly #inputs: RunInputs;
  readonly #team: TeamHolder;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#secrets = new SealedSecrets(this.secretsKey(), {
      loadedPaths: (component) => this.secretOwners().loadedPaths(component),
      keyUrl: (component) => this.secretOwners().keyUrl(component),
    });
    this.#inputs = new RunInputs(new Sealer(this.secretsKey()));
    this.#listing = new Listing({
      storage: ctx.storage,
      name: ctx.id.name,
      find: (name) => this.tenant(name),
    });
    this.#team = new TeamHolder({
      ctx,
      listing: this.#listing,
      secrets: this.#secrets,
      limits: () => tenantLimitsFrom(this.settings()),
      restMs: () => this.restMs(),
      telemetry: () => this.telemetry(),
      build: (component) => this.build(component),
      log: (...entry) => this.log(...entry),
      costOf: (...used) => this.costOf(...used),
      releaseSession: (session) => this.releaseSession(session),
    });
  }

  /** Builds the team or agent of a component whose secrets are opened. @throws ComponentError */
  protected abstract build(component: ComponentModel): Runnable | Promise<Runnable>;

  /** Which component a redacted secret belongs to. By default, all of one team belong to the whole component. */
  protected secretOwners(): SecretOwners {
    return ONE_OWNER;
  }

  /** What writes streams in the format of a protocol. The default has none. */
  protected format(name: string): Promise<FormatCode> {
    return Promise.reject(new TypeError(`this object has no format ${name}`));
  }

  /**
   * Called after the team was deleted: removes its data at external services, which know it by this name
   * (`StepAttempt.session`). Not awaited and not retried.
   */
  protected async releaseSession(_session: string): Promise<void> {}

  /** Takes entries for the operator's log; the default drops them. */
  protected log(_entry: LogEntry, _error?: unknown): void {}

  /** What tokens of a model cost, in the currency of the deployment's prices; null, the default, if that is not known. */
  protected costOf(_model: string, _tokens: TokenUsage): number | null {
    return null;
  }

  /** Where reports of runs go; undefined, the default, records none. Called when a team is loaded. */
  protected telemetry(): Telemetry | undefined {
    return undefined;
  }

  /** The settings of the deployment. */
  protected settings(): Readonly<Record<string, unknown>> {
    return this.env as Readonly<Record<string, unknown>>;
  }

  /** Rows this instance has written so far, indexes included: what the platform bills. */
  get rowsWritten(): number {
    return this.#team.parts?.stores.db.rowsWritten ?? 0;
  }

  /** Milliseconds that streams stay open once a run waits for a human; clients reconnect by cursor. */
  protected restMs(): number {
    return 15_000;
  }

  /** The key that secrets in components are encrypted with (setting `SECRETS_KEY`). */
  protected secretsKey(): string | undefined {
    const { SECRETS_KEY } = this.env as { SECRETS_KEY?: unknown };
    return typeof SECRETS_KEY === "string" ? SECRETS_KEY : undefined;
  }

  /** The tenant that lists its teams; undefined without the binding TENANT. */
  protected tenant(name: string): TenantOfTeam | undefined {
    const { TENANT } = this.env as { TENANT?: DurableObjectNamespace };
    return TENANT && (TENANT.get(TENANT.idFromName(name)) as unknown as TenantOfTeam);
  }

  create({ component, ...input }: CreateTeamInput): Promise<Result<TeamInfo>> {
    return this.#create(input, () => this.#secrets.seal(component, null));
  }

  /** What a conversation with this team is made from. */
  conversationModel(): Result<ConversationModel> {
    return this.#team.with(({ stores: { team } }) => {
      const { id, label, metadata } = team.record;
      return ok({ agent: id, label, metadata, component: team.component });
    });
  }

  /** Becomes a conversation with another team of its tenant. */
  createConversation(
    { id, expires_in, ...caller }: CreateConversationInput,
    { agent, label, metadata, component }: ConversationModel,
  ): Promise<Result<TeamInfo>> {
    const conversation = { agent, ...caller };
    // Whoever knows the id is its caller, so the same id asks for the same conversation.
    const idempotency = { key: `conversation ${id}`, hash: "" };
    return this.#create(
      { id, label, metadata, expires_in, conversation, idempotency },
      async () => component,
    );
  }

  /** Resolves when the tenant lists all changes, so that a client that reads the lists next finds them; or after the limit. */
  async #listed(): Promise<void> {
    const outbox = this.#team.parts?.outbox;
    if (outbox) await within(LISTED_WITHIN_MS, outbox.deliver()).catch(() => undefined);
  }

  async #create(input: NewTeam, seal: () => Promise<ComponentModel>): Promise<Result<TeamInfo>> {
    const created = await this.#team.create(async () => {
      if (!(await this.#listing.isFree())) return stillBeingDeleted();
      const stores = this.#team.parts?.stores ?? this.#listing.newStores();
      const stored = await createTeam(stores, input, seal, this.#listing.tenantName, () =>
        this.#team.forkTarget().erase(),
      );
      if (!stored.ok) return stored;
      if (this.#team.parts === undefined) this.#team.hold(stores);
      // In the same synchronous go as the team: none may be left without it.
      if (input.expires_in !== undefined) this.#team.arm();
      return this.team();
    });
    if (created.ok) await this.#listed();
    return created;
  }

  team(): Result<TeamInfo> {
    return this.#team.with(({ team }) => ok(team.info()));
  }

  replaceComponent(component: ComponentModel): Promise<Result<TeamInfo>> {
    return this.#team.change(({ team }) => team.replaceComponent(component));
  }

  destroy(): Promise<Result<null>> {
    return this.#team.change((parts) => this.#team.erase(parts));
  }

  /** Erases a team that {@link destroy} cannot: its data cannot be read. */
  wipe(): Promise<Result<null>> {
    return this.#team.wipe();
  }

  /** Made of the session's random name, which it does not give away. */
  async creation(): Promise<Result<string>> {
    const { session } = this.#team.parts?.stores.team ?? {};
    if (session === undefined) return teamNotFound();
    return ok((await sha256Hex(`creation ${session}`)).slice(0, 32));
  }

  async isRevoked(token: TokenOfTeam): Promise<boolean> {
    const creation = await this.creation();
    if (!creation.ok || creation.value !== token.creation) return true;
    const { stores } = this.#team.parts ?? {};
    return stores === undefined || new RevokedTokens(stores.meta).has(token);
  }

  revokeTokens(id: string | null): Result<null> {
    return this.#team.with(({ stores }) => new RevokedTokens(stores.meta).revoke(id, Date.now()));
  }

  session(): Result<string> {
    return this.#team.with(({ stores }) => ok(stores.team.session));
  }

  reset(): Promise<Result<TeamInfo>> {
    return this.#team.change(({ team }) => team.reset());
  }

  saveState(): Promise<Result<JsonObject>> {
    return this.#team.change(({ team }) => team.saveState());
  }

  loadState(state: JsonObject): Promise<Result<null>> {
    return this.#team.change(({ team }) => team.loadState(state));
  }

  async statePage(cursor: string | null): Promise<Result<StatePage>> {
    const { StateSource } = await import("../state-parts/state-source.ts");
    return this.#team.with(({ stores }) => new StateSource(stores).page(cursor));
  }

  beginStatePart(header: StatePartHeader): Promise<Result<string>> {
    return this.#team.change(
      ({ stateParts, quota }) => quota.refuseStored() ?? stateParts.begin(header),
    );
  }

  addStateLines(attempt: string, lines: readonly string[]): Result<null> {
    return this.#team.with(
      ({ stateParts, quota }) => quota.refuseStored() ?? stateParts.add(attempt, lines),
    );
  }

  endStatePart(attempt: string, end: StatePartEnd): Result<StagedState> {
    return this.#team.with(({ stateParts }) => stateParts.end(attempt, end));
  }

  stagedState(): Result<StagedState> {
    return this.#team.with(({ stateParts }) => ok(stateParts.info()));
  }

  discardStagedState(): Promise<Result<null>> {
    return this.#team.change(({ stateParts }) => {
      stateParts.discard();
      return ok(null);
    });
  }

  commitStagedState(state: string): Promise<Result<null>> {
    return this.#team.change(({ team }) => team.commitStagedState(state));
  }

  async visibleState(): Promise<Result<JsonObject>> {
    await this.#team.parts?.team.load();
    return this.#team.with(({ team }) => ok(team.visibleState()));
  }

  messages(query: MessageQuery): Result<MessagePage> {
    return this.#team.with(({ team }) => ok(team.messages(query)));
  }

  forkPoint(turn: number | null): Result<ForkPoint> {
    return this.#team.with(({ stores }) => new ForkSource(stores).point(turn));
  }

  forkPage(position: ForkPosition, cursor: ForkCursor): Result<ForkPage> {
    return this.#team.with(({ stores }) => new ForkSource(stores).page(position, cursor));
  }

  forkProgress(request: ForkRequest): Promise<Result<ForkProgress | null>> {
    return this.#team.create(() => this.#team.forkTarget().progress(request));
  }

  beginFork(request: ForkRequest, point: ForkPoint): Promise<Result<ForkProgress>> {
    return this.#team.create(async () => {
      if (!(await this.#listing.isFree())) return stillBeingDeleted();
      return this.#team.forkTarget().begin(request, point);
    });
  }

  continueFork(
    request: ForkRequest,
    cursor: ForkCursor,
    page: ForkPage,
  ): Promise<Result<ForkProgress>> {
    return this.#team.create(() => {
      const progress = this.#team.forkTarget().receive(request, cursor, page);
      if (this.#team.parts === undefined) this.#team.load();
      return progress;
    });
  }

  startRun(input: StartRunInput): Promise<Result<RunInfo & { created: boolean }>> {
    return this.#team.change(async (parts) => {
      const sealed = await this.#inputs.seal(input);
      if (!sealed.ok) return sealed;
      const refused = await refuseRun(parts, input, false);
      return refused ?? parts.runs.start(sealed.value);
    });
  }

  run(id: string): Result<RunInfo> {
    return this.#team.with(({ runs }) => runs.run(id));
  }

  runs(page: { cursor?: string; limit: number }): Result<RunPage> {
    return this.#team.with(({ runs }) => runs.page(page));
  }

  async runTrace(id: string, page: { cursor?: string; limit: number }): Promise<Result<RunTrace>> {
    const { traceOfRun } = await import("../telemetry/trace-of-run.ts");
    return this.#team.with((parts) => traceOfRun(parts, id, page));
  }

  async waitForRun(id: string, timeoutMs: number): Promise<Result<RunInfo>> {
    await this.#team.parts?.runs.wait(id, timeoutMs);
    await this.#listed();
    // The team may have been deleted in the meantime.
    return this.run(id);
  }

  async stopRun(
    id: string,
    mode: "after_turn" | "now",
  ): Promise<Result<RunInfo & { repeated: boolean }>> {
    const stopped = this.#team.with(({ runs }) => runs.stop(id, mode));
    if (!stopped.ok) return stopped;
    const { atOnce, ...stop } = stopped.value;
    await atOnce;
    // The team may have been deleted in the meantime.
    return this.#team.with(({ runs }) => runs.shown(id, stop));
  }

  pauseRun(id: string): Result<RunInfo> {
    return this.#team.with(({ runs }) => runs.pause(id));
  }

  resumeRun(id: string): Result<RunInfo> {
    return this.#team.with(({ runs }) => runs.resume(id));
  }

  retryRun(id: string, idempotency?: Idempotency): Promise<Result<RunInfo>> {
    return this.#team.change(async ({ runs, quota }) => {
      const starts = runs.retries(id, idempotency);
      const refused = starts && (await quota.refuseRun("alone", { task: null, stream: false }));
      return refused || runs.retry(id, idempotency);
    });
  }

  requests(run: string): Result<HumanRequest[]> {
    return this.#team.with(({ runs }) => runs.requests(run));
  }

  async answer(run: string, request: string, answer: JsonObject): Promise<Result<RunInfo>> {
    const { parseAnswer } = await import("./parse-answer.ts");
    return this.#team.with(
      ({ runs, quota }) =>
        quota.refuseMessage(answer) ?? runs.answer(run, request, answer, parseAnswer),
    );
  }

  putPushConfig(run: string, config: SecretPushConfig): Promise<Result<null>> {
    return this.#team.change(async ({ runs }) => {
      const sealed = await this.#inputs.sealPush(config);
      return sealed.ok ? runs.putPushConfig(run, sealed.value) : sealed;
    });
  }

  pushConfigs(run: string): Result<PushConfig[]> {
    return this.#team.with(({ runs }) => runs.pushConfigs(run));
  }

  deletePushConfig(run: string, id: string): Promise<Result<null>> {
    return this.#team.change(({ runs }) => runs.deletePushConfig(run, id));
  }

  createSchedule(input: CreateScheduleInput): Promise<Result<ScheduleInfo>> {
    return this.#team.change(({ schedules }) => schedules.create(input));
  }

  schedules(page: { cursor?: string; limit: number }): Result<SchedulePage> {
    return this.#team.with(({ schedules }) => schedules.page(page));
  }

  schedule(id: string): Result<ScheduleInfo> {
    return this.#team.with(({ schedules }) => schedules.one(id));
  }

  changeSchedule(id: string, changes: ScheduleChanges): Promise<Result<ScheduleInfo>> {
    return this.#team.change(({ schedules }) => schedules.change(id, changes));
  }

  deleteSchedule(id: string): Promise<Result<null>> {
    return this.#team.change(({ schedules }) => schedules.remove(id));
  }

  runSchedule(id: string, idempotency?: Idempotency): Promise<Result<RunInfo>> {
    return this.#team.change(({ schedules }) => schedules.runNow(id, idempotency));
  }

  /** Streams use fetch, because only then does the runtime report that a client has disconnected. */
  override async fetch(request: Request): Promise<Response> {
    const { format, start, open: input, client } = await request.json<StreamCall>();
    const code = format && (await this.format(format.name));
    if (input === undefined) {
      return streamResponse(await this.#startStream(start, client, format, code));
    }
    const { parts } = this.#team;
    const refused = parts && (await placeOfStream(parts, client.credential));
    const writer = this.#writer(format?.options, code);
    if (writer.visibleState) await this.#team.parts?.team.load();
    return streamResponse(
      refused ?? this.#team.with((now) => openStream(now, input, writer, client)),
    );
  }

  /** The client of a stream has left. */
  async endStream(name: string): Promise<void> {
    this.#team.parts?.live.closeStream(name);
  }

  /** @param options of the format; without code, the native one is written */
  #writer(options: JsonObject = {}, code: FormatCode | undefined): FrameWriter {
    if (code === undefined) return nativeFrames;
    return new EncodedFrames(code.makeEncoder(options), (error) => {
      this.log({ event: "internal_error", error: stackOf(error) }, error);
    });
  }

  override alarm(): Promise<void> {
    return this.#team.alarm();
  }

  /** Must not await between starting the run and opening its stream: the first chunks of text would be missed. */
  #startStream(
    given: StartRunInput,
    client: StreamClient,
    format: StreamFormat | undefined,
    code: FormatCode | undefined,
  ): Promise<Result<StartedStream>> {
    return this.#team.change(async (parts) => {
      const start = { input: given, options: format?.options ?? {} };
      const formatted = code?.prepare?.(start, parts.stores.team.component) ?? ok(start);
      if (!formatted.ok) return formatted;
      const prepared = formatted.value;
      const sealed = await this.#inputs.seal(prepared.input);
      if (!sealed.ok) return sealed;
      const refused = await placeOfRun(parts, prepared.input, client.credential);
      if (refused) return refused;
      const writer = this.#writer(prepared.options, code);
      if (writer.visibleState) await parts.team.load();
      const started = parts.runs.start(sealed.value);
      if (!started.ok) return started;
      const { id, created } = started.value;
      const opened = openStream(parts, { run: id, after: 0 }, writer, client);
      return opened.ok ? ok({ ...opened.value, run: id, created }) : opened;
    });
  }
}
