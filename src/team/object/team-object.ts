import { DurableObject } from "cloudflare:workers";
import { stackOf } from "../../core/errors.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LogEntry } from "../../core/log.ts";
import type {
  StartedStream,
  StartRunInput,
  StreamFormat,
  TokenOfTeam,
} from "../../contract/gateways/team-gateway.ts";
import type { FormatCode } from "../../contract/stream/stream-format.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { tenantLimitsFrom } from "../../contract/tenant/tenant-limits.ts";
import {
  REPEATABLE_CALLS_OF_TEAMS,
  type TenantOfTeam,
} from "../../contract/gateways/tenant-gateway.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { addMethods, remoteObject, tenantNamed } from "../../sqlite/remote-methods.ts";
import { Listing } from "../directory-link/listing.ts";
import { type MemoryObjects, memoryObjects } from "../directory-link/tenant-memories.ts";
import { RunInputs } from "../engine/new-run.ts";
import { ONE_OWNER, type SecretOwners } from "../../secrets/kept-secrets.ts";
import { SealedSecrets } from "../../secrets/sealed-secrets.ts";
import { Sealer } from "../../secrets/sealer.ts";
import { credentialOf, CredentialSockets } from "../stream/credential-watch.ts";
import {
  EncodedFrames,
  type FrameWriter,
  nativeFrames,
  nativeFramesShowing,
  type VisibleLogins,
} from "../stream/frames.ts";
import { IDLE_MS, type StreamClient, type WatcherCall } from "../stream/stream-places.ts";
import { CURSOR, readWatchRequest } from "../stream/watch-relay.ts";
import type { WatchSocket } from "../stream/watch-socket.ts";
import { Watchers } from "../stream/watchers.ts";
import type { TeamCommandParts, TeamHandlers } from "./handlers/team-methods.ts";
import { refuseAnswers, runHandlers, withAnswers } from "./handlers/run-handlers.ts";
import { memoryHandlers } from "./handlers/memory-handlers.ts";
import { stateHandlers } from "./handlers/state-handlers.ts";
import { teamHandlers } from "./handlers/team-handlers.ts";
import { openStream, sendEvents, type StreamCall, streamResponse } from "./stream-request.ts";
import { TeamHolder } from "./parts/team-holder.ts";

const handlers: TeamHandlers = {
  ...teamHandlers,
  ...stateHandlers,
  ...memoryHandlers,
  ...runHandlers,
};

/**
 * A team as a Durable Object: the conversation, every agent's context, one run at a time. A deployment subclasses it
 * and implements {@link build}.
 *
 * Its methods are the commands of {@link TeamHandlers}; streams are opened over `fetch`.
 */
export abstract class TroupeTeam<Env = unknown> extends DurableObject<Env> {
  static {
    addMethods(this.prototype, handlers, (object) => object.#parts);
  }

  readonly #parts: TeamCommandParts;
  readonly #watchers: Watchers<string | null>;
  /** Writers of native frames, by the logins that their clients may see. */
  readonly #native = new Map<string, FrameWriter>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const secrets = new SealedSecrets(this.secretsKey(), {
      loadedPaths: (component) => this.secretOwners().loadedPaths(component),
      keyUrl: (component) => this.secretOwners().keyUrl(component),
    });
    const listing = new Listing({
      storage: ctx.storage,
      name: ctx.id.name,
      find: (name) => this.tenant(name),
    });
    const memories = (tenant: string): MemoryObjects | undefined => this.memoryObjects(tenant);
    const team = new TeamHolder({
      ctx,
      listing,
      secrets,
      limits: () => tenantLimitsFrom(this.settings()),
      idleMs: () => this.idleMs(),
      telemetry: () => this.telemetry(),
      build: (component) => this.build(component),
      memories,
      log: (...entry) => this.log(...entry),
      costOf: (...used) => this.costOf(...used),
      env: env ?? {},
      releaseSession: (session) => this.releaseSession(session),
    });
    const inputs = new RunInputs(new Sealer(this.secretsKey()));
    const tokens = new CredentialSockets<TokenOfTeam>(ctx);
    this.#parts = { team, listing, secrets, inputs, tokens };
    this.#watchers = new Watchers(ctx);
    this.#restoreWatchers();
  }

  /** Builds the team or agent of a component whose secrets are opened. @throws ComponentError */
  protected abstract build(component: ComponentModel): Runnable | Promise<Runnable>;

  /** The component that a redacted secret belongs to. By default, all of one team belong to the whole component. */
  protected secretOwners(): SecretOwners {
    return ONE_OWNER;
  }

  /** The code that writes streams in the format of a protocol. The default has none. */
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

  /** The cost of a model's tokens, in the currency of the deployment's prices; null, the default, if it is unknown. */
  protected costOf(_model: string, _tokens: TokenUsage): number | null {
    return null;
  }

  /** The destination of reports of runs; undefined, the default, records none. Called when a team is loaded. */
  protected telemetry(): Telemetry | undefined {
    return undefined;
  }

  /** The settings of the deployment. */
  protected settings(): Readonly<Record<string, unknown>> {
    return this.env as Readonly<Record<string, unknown>>;
  }

  /** Rows this instance has written so far, indexes included: what the platform bills. */
  get rowsWritten(): number {
    return this.#parts.team.parts?.stores.db.rowsWritten ?? 0;
  }

  /** Milliseconds for which streams hold the object once a run waits for a human. */
  protected idleMs(): number {
    return IDLE_MS;
  }

  /** The key that secrets in components are encrypted with (setting `SECRETS_KEY`). */
  protected secretsKey(): string | undefined {
    const { SECRETS_KEY } = this.env as { SECRETS_KEY?: unknown };
    return typeof SECRETS_KEY === "string" ? SECRETS_KEY : undefined;
  }

  /** The tenant that lists its teams; undefined without the binding TENANT. */
  protected tenant(name: string): TenantOfTeam | undefined {
    const { TENANT } = this.env as { TENANT?: DurableObjectNamespace };
    return (
      TENANT && remoteObject<TenantOfTeam>(TENANT, tenantNamed(name), REPEATABLE_CALLS_OF_TEAMS)
    );
  }

  /** The memories of a tenant and its users; undefined without the binding MEMORY. */
  protected memoryObjects(tenant: string): MemoryObjects | undefined {
    const { MEMORY } = this.env as { MEMORY?: DurableObjectNamespace };
    return MEMORY && memoryObjects(MEMORY, tenant);
  }

  /** Streams use fetch, because only then does the runtime report that a client has disconnected. */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("upgrade") === "websocket") {
      const token = credentialOf<TokenOfTeam>(request);
      if (token !== undefined) {
        const isRevoked = await handlers.isRevoked(this.#parts, token);
        return this.#parts.tokens.open(token, !isRevoked);
      }
      const { after, client } = readWatchRequest<WatcherCall>(request);
      return this.#watch(after ?? 0, client);
    }
    const call = await request.json<StreamCall>();
    const { format, client } = call;
    const code = format && (await this.format(format.name));
    if (call.open === undefined) {
      return streamResponse(await this.#startStream(call.start, client, format, code));
    }
    const { open, continues } = call;
    const { team } = this.#parts;
    const { parts } = team;
    // Before there is a place, which may cost another stream.
    const refused =
      (continues && (await refuseAnswers(team, continues))) ??
      (await parts?.quota.placeOfStream(client.credential));
    if (refused) return streamResponse(refused);
    const writer = this.#writer(format?.options, code, client);
    if (writer.visibleState) await team.parts?.team.load();
    const opened =
      continues === undefined
        ? team.with((now) => openStream(now, open, { writer, client }))
        : await withAnswers(team, continues, (now, give) => {
            const stream = openStream(now, open, { writer, client });
            if (stream.ok) give();
            return stream;
          });
    if (!opened.ok || "done" in opened.value) parts?.quota.streamEnded();
    return streamResponse(opened);
  }

  /** Opens the socket of a watcher of one run, or of all. */
  async #watch(given: number, { run, continues, ...client }: WatcherCall): Promise<Response> {
    const { team } = this.#parts;
    const { parts } = team;
    const after = continues === undefined ? given : parts?.live.takeBrokenOff(continues);
    if (after === undefined) return new Response(null, { status: 404 });
    const refused = await parts?.quota.placeOfStream(client.credential);
    if (refused) return streamResponse(refused);
    let end: WebSocket | null = null;
    const connect = (): WatchSocket<string | null> => {
      const accepted = this.#watchers.accept(client, run);
      ({ end } = accepted);
      return accepted.connection;
    };
    const to = { writer: this.#nativeFor(client), client, connect };
    const sent = team.with((now) => sendEvents(now, { run, after }, to));
    if (end === null) {
      parts?.quota.streamEnded();
      return streamResponse(sent.ok ? ok({ done: true }) : sent);
    }
    const headers = { [CURSOR]: String(after) };
    return new Response(null, { status: 101, webSocket: end, headers });
  }

  /** The watchers that were connected when the object was unloaded get what follows. */
  #restoreWatchers(): void {
    const { parts } = this.#parts.team;
    for (const { client, subject, cursor, connection } of this.#watchers.restore()) {
      // Those who have missed something, such as the beginning of a text, are to continue as after a reconnect.
      const { active } = parts?.engine ?? {};
      if (
        parts === undefined ||
        active?.idle === false ||
        cursor !== parts.stores.log.last ||
        (subject !== null && subject !== active?.record.id)
      ) {
        connection.continueElsewhere();
      } else {
        const writer = this.#nativeFor(client);
        parts.live.restore(connection, { ...client, run: subject }, writer);
      }
    }
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#watchers.message(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#watchers.closed(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#watchers.closed(socket);
  }

  /** The client of a stream has left. */
  async endStream(name: string): Promise<void> {
    this.#parts.team.parts?.live.closeStream(name);
  }

  /** @param options how the format is written; without code, the native one is */
  #writer(
    options: JsonObject = {},
    code: FormatCode | undefined,
    client: StreamClient,
  ): FrameWriter {
    if (code === undefined) return this.#nativeFor(client);
    const onError = (error: unknown): void =>
      this.log({ event: "internal_error", error: stackOf(error) }, error);
    return new EncodedFrames(code.makeEncoder(options), onError, this.#loginsFor(client));
  }

  /** The same writer for all clients that may see the same logins: they get the same bytes. */
  #nativeFor(client: StreamClient): FrameWriter {
    const logins = this.#loginsFor(client);
    if (logins === undefined) return nativeFrames;
    const key = JSON.stringify([logins.sees.tenant, logins.sees.user]);
    const writer = this.#native.get(key) ?? nativeFramesShowing(logins);
    this.#native.set(key, writer);
    return writer;
  }

  /** Undefined for a client that may not be given the address of any login. */
  #loginsFor({ sees }: StreamClient): VisibleLogins | undefined {
    return sees && { sees, questions: () => this.#parts.team.parts?.stores.questions };
  }

  override alarm(): Promise<void> {
    return this.#parts.team.alarm();
  }

  /** Must not await between starting the run and opening its stream: the first chunks of text would be missed. */
  #startStream(
    given: StartRunInput,
    client: StreamClient,
    format: StreamFormat | undefined,
    code: FormatCode | undefined,
  ): Promise<Result<StartedStream>> {
    return this.#parts.team.change(async (parts) => {
      const start = { input: given, options: format?.options ?? {} };
      const formatted = code?.prepare?.(start, parts.stores.team.component);
      if (formatted?.ok === false) return formatted;
      const prepared = formatted?.value ?? start;
      const sealed = await this.#parts.inputs.seal(prepared.input);
      if (!sealed.ok) return sealed;
      const { task } = prepared.input;
      const { credential } = client;
      const admitted = await parts.admission.admit(prepared.input, (decided) =>
        parts.quota.admitStreamed(decided, { task, credential }),
      );
      if (!admitted.ok) return admitted;
      const writer = this.#writer(prepared.options, code, client);
      if (writer.visibleState) await parts.team.load();
      const run = parts.admission.insert(sealed.value, admitted.value);
      parts.engine.enter(run);
      const after = run.do === "steer" ? run.after : 0;
      const started = { run: run.id, created: run.do === "start" || run.do === "queue" };
      return openStream(parts, { run: run.id, after }, { writer, client }, started);
    });
  }
}
