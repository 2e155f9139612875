import { DurableObject } from "cloudflare:workers";
import { ok } from "../../contract/result.ts";
import type { PushBody, RunChange } from "../../contract/stream/run-change.ts";
import { Sealer } from "../../secrets/sealer.ts";
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
import { webhookHandlers } from "../webhooks/webhook-handlers.ts";
import { directoryHandlers } from "./directory-handlers.ts";
import { beingDeleted, tenantHandlers } from "./tenant-handlers.ts";
import type { TenantCommandParts, TenantHandlers } from "./tenant-methods.ts";
import { connectionHandlers, type ConnectionSource } from "../connections/connection-handlers.ts";
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
  ...connectionHandlers,
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

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const sealer = new Sealer(env.SECRETS_KEY);
    const tenant = new TenantHolder({
      ctx,
      others: new TenantCalls(env),
      settings: () => this.settings(),
      sealer,
      send: (request) => this.sendWebhook(request),
      writePush: (...change) => this.pushBody(...change),
      oauth: () => this.oauth(),
      publicUrl: () => this.publicUrl(),
      telemetry: new DeliveryTelemetry(() => this.telemetry(), ctx.id.name ?? null),
    });
    const webhooks = {
      stored: () => tenant.parts?.webhooks,
      hold: () => tenant.hold().webhooks,
      sealer,
    };
    const connections: ConnectionSource = {
      stored: () => (isDeleting(tenant) ? undefined : tenant.parts?.connections),
      hold: () => (isDeleting(tenant) ? beingDeleted() : ok(tenant.hold().connections)),
    };
    this.#parts = { tenant, webhooks, connections, keys: new CredentialSockets(ctx) };
    this.#watchers = new Watchers(ctx);
    this.#restoreWatchers();
  }

  /** OAuth for logins at MCP servers, to allowed hosts only. */
  protected abstract oauth(): OAuth;

  /** The address at which browsers reach the service; undefined, the default, if it is not known. */
  protected publicUrl(): string | undefined {
    return undefined;
  }

  /** Sends a delivery of a webhook once, to allowed hosts only. Never rejects. */
  protected abstract sendWebhook(request: SignedRequest): Promise<SendResult>;

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

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#watchers.message(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#watchers.closed(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#watchers.closed(socket);
  }

  override alarm(): Promise<void> {
    return this.#parts.tenant.alarm();
  }
}

function isDeleting({ parts }: TenantHolder): boolean {
  return parts?.tenant.record.deleting === true;
}
