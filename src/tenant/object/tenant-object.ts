import { DurableObject } from "cloudflare:workers";
import { ok, refuse } from "../../contract/result.ts";
import type { JsonObject } from "../../core/json.ts";
import type { PushBody, RunChange } from "../../contract/stream/run-change.ts";
import { AnswerLinks } from "../../notify/answer-links.ts";
import type { Mail } from "../../notify/email-message.ts";
import { TELEGRAM_API } from "../../notify/telegram-api.ts";
import { Sealer } from "../../secrets/sealer.ts";
import { secretsKeyBytes } from "../../secrets/secrets-key.ts";
import { addMethods } from "../../sqlite/remote-methods.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { makePlace } from "../../team/stream/stream-places.ts";
import { credentialOf, CredentialSockets } from "../../team/stream/credential-watch.ts";
import { readWatchRequest } from "../../team/stream/watch-relay.ts";
import { Watchers } from "../../team/stream/watchers.ts";
import type { FeedClient, Watched } from "../directory/change-feed.ts";
import { DeliveryTelemetry } from "../webhooks/delivery-telemetry.ts";
import type { SendResult } from "../webhooks/dispatcher.ts";
import type { SignedRequest } from "../webhooks/signing.ts";
import { notifyHandlers } from "../notify/notify-handlers.ts";
import { webhookHandlers } from "../webhooks/webhook-handlers.ts";
import { directoryHandlers } from "./directory-handlers.ts";
import { toolHandlers } from "./tool-handlers.ts";
import { beingDeleted, tenantHandlers } from "./tenant-handlers.ts";
import type { TenantCommandParts, TenantHandlers } from "./tenant-methods.ts";
import { triggerHandlers, type TriggerSource } from "../triggers/trigger-handlers.ts";
import { connectionHandlers, type ConnectionSource } from "../connections/connection-handlers.ts";
import { fileHandlers, type FileSource } from "../files/file-handlers.ts";
import type { FileBucket } from "../files/file-store.ts";
import { ResponseSockets } from "../sockets/response-sockets.ts";
import { socketCallerOf } from "../sockets/socket-caller.ts";
import { skillHandlers, type SkillSource } from "../skills/skill-handlers.ts";
import type { OAuth } from "../connections/grants.ts";
import { TenantCalls, type TenantCallsEnv } from "./tenant-calls.ts";
import { TenantHolder } from "./tenant-holder.ts";

/** Dependencies of a tenant's object on its Worker. */
export interface TenantEnv extends TenantCallsEnv {
  /** Encrypts the secrets of webhooks. */
  SECRETS_KEY?: string;
}

/** The name under which the streams of the directory itself are counted; no team's id contains an @. */
const FEED = "@feed";

const handlers: TenantHandlers = {
  ...tenantHandlers,
  ...directoryHandlers,
  ...webhookHandlers,
  ...triggerHandlers,
  ...connectionHandlers,
  ...notifyHandlers,
  ...skillHandlers,
  ...toolHandlers,
  ...fileHandlers,
};

/**
 * A tenant as a Durable Object: its keys, its limits, its webhooks and the directory of its teams. Under the name
 * `@registry` it is the list of tenants instead.
 *
 * Its methods are the commands of {@link TenantHandlers}; the feed is opened over `fetch`.
 */
export abstract class TroupeTenant<Env extends TenantEnv = TenantEnv> extends DurableObject<Env> {
  static {
    addMethods(this.prototype, handlers, (object) => object.#parts);
  }

  readonly #parts: TenantCommandParts;
  readonly #watchers: Watchers<Watched>;
  readonly #responses: ResponseSockets;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const sealer = new Sealer(env.SECRETS_KEY);
    const key = secretsKeyBytes(env.SECRETS_KEY);
    const responses = new ResponseSockets({
      ctx,
      hasKey: (id) => !isDeleting(tenant) && tenant.parts?.keys.has(id, Date.now()) === true,
      respond: (caller, request) => this.respond(caller, request),
    });
    this.#responses = responses;
    const tenant = new TenantHolder({
      ctx,
      sockets: responses,
      others: new TenantCalls(env),
      settings: () => this.settings(),
      sealer,
      send: (request) => this.sendWebhook(request),
      sendEmail: (mail) => this.sendEmail(mail),
      emailFrom: () => this.emailFrom(),
      telegramApi: () => this.telegramApi(),
      links: key && new AnswerLinks(key),
      writePush: (...change) => this.pushBody(...change),
      oauth: () => this.oauth(),
      publicUrl: () => this.publicUrl(),
      bucket: () => this.bucket(),
      telemetry: new DeliveryTelemetry(() => this.telemetry(), ctx.id.name ?? null),
    });
    const webhooks = {
      stored: () => tenant.parts?.webhooks,
      hold: () => tenant.hold().webhooks,
      sealer,
    };
    const triggers: TriggerSource = {
      stored: () => (isDeleting(tenant) ? undefined : tenant.parts?.triggers),
      hasTeam: (team) => tenant.hold().reservations.isKnown(team),
      sealer,
    };
    const notify = {
      stored: () => tenant.parts?.notify,
      hold: () => tenant.hold().notify,
      sealer,
    };
    const connections: ConnectionSource = {
      stored: () => (isDeleting(tenant) ? undefined : tenant.parts?.connections),
      hold: () => (isDeleting(tenant) ? beingDeleted() : ok(tenant.hold().connections)),
    };
    const skills: SkillSource = {
      stored: () => (isDeleting(tenant) ? undefined : tenant.parts?.skills),
      hold: () => {
        if (isDeleting(tenant)) return beingDeleted();
        const parts = tenant.hold();
        return parts.stored.refuse(tenant.limits()) ?? ok(parts.skills);
      },
    };
    const files: FileSource = {
      stored: () => (isDeleting(tenant) ? undefined : tenant.parts?.files),
      hold: () => {
        if (isDeleting(tenant)) return beingDeleted();
        const parts = tenant.hold();
        return parts.stored.refuse(tenant.limits()) ?? ok(parts.files);
      },
      changed: () => tenant.setAlarm(Date.now()),
    };
    const credentials = new CredentialSockets<string>(ctx);
    this.#parts = {
      tenant,
      webhooks,
      notify,
      triggers,
      connections,
      skills,
      files,
      keys: {
        open: (...given) => credentials.open(...given),
        end: (hasEnded) => {
          credentials.end(hasEnded);
          responses.end(hasEnded);
        },
        endTokens: (...given) => responses.endTokens(...given),
      },
    };
    this.#watchers = new Watchers(ctx);
    this.#restoreWatchers();
  }

  /** OAuth for logins at MCP servers, to allowed hosts only. */
  protected abstract oauth(): OAuth;

  /** The address at which browsers reach the service; undefined, the default, if it is not known. */
  protected publicUrl(): string | undefined {
    return undefined;
  }

  /** Answers a request in the name of a caller that was authenticated before. */
  protected abstract respond(caller: JsonObject, request: Request): Promise<Response>;

  /** The bucket for the bytes of files; undefined, the default, if they lie in this object. */
  protected bucket(): FileBucket | undefined {
    return undefined;
  }

  /** Sends a delivery of a webhook once, to allowed hosts only. Never rejects. */
  protected abstract sendWebhook(request: SignedRequest): Promise<SendResult>;

  /** Sends an e-mail once. Never rejects. By default none is sent. */
  protected sendEmail(_mail: Mail): Promise<SendResult> {
    const none = { status: null, response: null, retryAfter: null, duration: 0 };
    return Promise.resolve({ ...none, error: "This object sends no e-mail." });
  }

  /** The sender of e-mails; undefined, the default, where none are sent. */
  protected emailFrom(): string | undefined {
    return undefined;
  }

  /** The address of the server of Telegram's bots. */
  protected telegramApi(): string {
    return TELEGRAM_API;
  }

  /** Encodes a change of a run in the format of a protocol. By default no formats exist. */
  protected pushBody(format: string, _change: RunChange): Promise<PushBody> {
    return Promise.reject(new TypeError(`this object has no format ${format}`));
  }

  /** The telemetry of the deployment; undefined when nothing is recorded. */
  protected telemetry(): Telemetry | undefined {
    return undefined;
  }

  /** The settings of the deployment. */
  protected settings(): Readonly<Record<string, unknown>> {
    return this.env as object as Readonly<Record<string, unknown>>;
  }

  /** Rows written by this instance so far. */
  get rowsWritten(): number {
    return this.#parts.tenant.db.rowsWritten;
  }

  /** Opens the socket of a watcher of the feed, or of one who waits for the end of a key. */
  override async fetch(request: Request): Promise<Response> {
    const { tenant, keys } = this.#parts;
    const { refused: unusable } = tenant;
    if (unusable) return Response.json(unusable.problem, { status: unusable.problem.status });
    if (request.headers.get("upgrade") !== "websocket") return new Response(null, { status: 404 });
    const key = credentialOf<string>(request);
    if (key !== undefined) {
      const { parts } = tenant;
      const isValid = parts?.tenant.record.deleting !== true && parts?.keys.has(key, Date.now());
      return keys.open(key, isValid === true);
    }
    const caller = socketCallerOf(request);
    if (caller !== undefined) {
      const { streams_per_tenant: most } = tenant.limits();
      if (this.#responses.count >= most) {
        const detail = `The tenant has ${most} open connections, its limit streams_per_tenant.`;
        const limit = { limit: "streams_per_tenant", value: most };
        const { problem } = refuse(429, "too_many_streams", detail, limit);
        return Response.json(problem, { status: problem.status });
      }
      const opened = this.#responses.open(caller, Date.now());
      tenant.hold();
      tenant.setAlarm(Date.now());
      return opened;
    }
    const { after, client } = readWatchRequest<FeedClient>(request);
    const { credential } = client;
    const limits = tenant.limits();
    const refused = await makePlace(tenant.feed, credential, limits.streams_per_credential, () =>
      tenant.parts?.admission.admit(
        { team: FEED, streams: tenant.feed.streams + 1 },
        limits,
        Date.now(),
      ),
    );
    if (refused) return Response.json(refused.problem, { status: refused.problem.status });
    const { connection, end } = this.#watchers.accept(client, {
      changes: client.changes,
      team_user: client.team_user,
    });
    tenant.feed.open(tenant.parts?.directory, after, client, connection);
    return new Response(null, { status: 101, webSocket: end });
  }

  /** The watchers that were connected when the object was unloaded get what follows. */
  #restoreWatchers(): void {
    const restored = this.#watchers.restore();
    if (restored.length === 0) return;
    const { feed, refused } = this.#parts.tenant;
    const parts = refused ? undefined : this.#parts.tenant.parts;
    const last = parts?.directory.lastChange ?? 0;
    for (const { client, subject, cursor, connection } of restored) {
      if (cursor === null || cursor < last) connection.continueElsewhere();
      else feed.restore({ ...client, ...subject }, connection);
    }
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#responses.has(socket)) await this.#responses.message(socket, message);
    else this.#watchers.message(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#watchers.closed(socket);
    this.#responses.closed(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket);
  }

  override alarm(): Promise<void> {
    return this.#parts.tenant.alarm();
  }
}

function isDeleting({ parts }: TenantHolder): boolean {
  return parts?.tenant.record.deleting === true;
}
