import type { LoginKey, LoginWanted } from "../../contract/gateways/tenant-gateway.ts";
import type { CreateConnection, StartedConnection } from "../../contract/tenant/connection.ts";
import { MOST_CONNECTIONS, MOST_CONNECTIONS_IN_ALL } from "../../contract/constants.ts";
import { TroupeError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { HeldLogin, LoginAnswer } from "../../core/steps/server-logins.ts";
import {
  connectionId,
  type ConnectionRecord,
  type ConnectionStore,
  shownConnection,
} from "./connection-store.ts";
import {
  type BegunLogin,
  clientForms,
  connected,
  lasting,
  plainServer,
  suffices,
  tokensOf,
} from "./grants.ts";
import type { LoginAnswers } from "./login-answers.ts";
import { openGrant, PendingLogins, type PendingOptions, unknownLogin } from "./pending-logins.ts";

export interface ConnectionsOptions extends PendingOptions {
  /** The address at which browsers reach the service; undefined if it is not known. */
  publicUrl: () => string | undefined;
}

interface Begin {
  key: LoginKey;
  record: ConnectionRecord | undefined;
  grant: JsonObject;
  /** The address at which browsers reach the service. */
  baseUrl: string;
  /** The credential or the run that begins it. */
  by: string;
  /** False if the server has not said its wants yet. */
  asked: boolean;
  scope: string | null;
  resourceMetadata: string | null;
  /** True if a new login is wanted even if the grant can be renewed. */
  login: boolean;
}

/** The logins of a tenant and its users at MCP servers: begins and ends them, and gives out and renews their access tokens. */
export class Connections {
  readonly store: ConnectionStore;
  readonly answers: LoginAnswers;
  readonly pending: PendingLogins;
  readonly #options: ConnectionsOptions;
  /** The last use of each grant: one at a time, because a refresh token is good for one request. */
  readonly #inUse = new Map<string, Promise<unknown>>();

  constructor(options: ConnectionsOptions) {
    this.store = options.store;
    this.answers = options.answers;
    this.#options = options;
    this.pending = new PendingLogins(options, (key, run) => this.#inTurn(key, run));
  }

  /** Begins a login. @param by the address at which the caller reaches the service, and its credential */
  start(
    { server: given, user, scope, client_id, client_secret, issuer }: CreateConnection,
    by: { baseUrl: string; credential: string },
  ): Promise<StartedConnection> {
    const key = { server: plainServer(given), user: user ?? null };
    return this.#inTurn(key, async () => {
      const record = this.store.get(key);
      const stored = await this.#grantFor(key, record);
      const registered = client_id !== undefined && {
        client_id,
        ...(client_secret !== undefined && { client_secret }),
        ...(issuer !== undefined && { issuer }),
      };
      const begun = await this.#begin({
        key,
        record,
        grant: registered ? { ...stored, registered } : stored,
        baseUrl: this.#options.publicUrl() ?? by.baseUrl,
        by: by.credential,
        asked: false,
        scope: scope ?? null,
        resourceMetadata: null,
        // The present login may be another person's.
        login: true,
      });
      if (begun === undefined) throw new TypeError("a login was made without a human");
      return begun;
    });
  }

  /** An access token for a server, or a login that the run has to wait for. */
  token(wanted: LoginWanted): Promise<LoginAnswer> {
    const key = { server: plainServer(wanted.server), user: wanted.user };
    return this.#inTurn(key, async () => {
      const record = this.store.get(key);
      const grant = await this.#grantFor(key, record);
      const tokens = record?.connected ? tokensOf(grant) : undefined;
      if (record !== undefined && tokens !== undefined && suffices(tokens, wanted)) {
        return { token: tokens.access_token, login: loginOf(record), fresh: false };
      }
      const { team, run, request, rejected, fresh, insufficient } = wanted;
      const { scope, resourceMetadata } = wanted;
      const wait = { ...key, team, run, request, since: null };
      const baseUrl =
        this.#options.publicUrl() ?? record?.base_url ?? this.#ofTenant(key)?.base_url;
      if (baseUrl === undefined) {
        this.store.waits({ ...wait, url: null });
        return { needed: { url: null } };
      }
      const login = insufficient || (fresh && rejected !== null);
      const by = `run ${run} of the team ${team}`;
      const asked = { asked: true, scope, resourceMetadata, login };
      const begun = await this.#begin({ key, record, grant, baseUrl, by, ...asked });
      if (begun === undefined) {
        const held = await this.held(key);
        if (held === null) throw unknownLogin();
        return { ...held, fresh: true };
      }
      const url = begun.authorization_url;
      this.store.waits({ ...wait, url });
      return { needed: { url } };
    });
  }

  /** The login as it is now; null without one. */
  async held({ server, user }: LoginKey): Promise<HeldLogin | null> {
    const record = this.store.get({ server: plainServer(server), user });
    if (record === undefined || !record.connected) return null;
    const tokens = tokensOf(await this.#open(record.grant));
    return tokens === undefined ? null : { token: tokens.access_token, login: loginOf(record) };
  }

  /** Forgets a login with its tokens at once, and has the authorization server revoke them where it can. */
  async remove(key: LoginKey): Promise<void> {
    const record = this.store.get(key);
    this.store.transaction(() => this.store.remove(key));
    if (record === undefined) return;
    // One that cannot be read cannot be revoked: SECRETS_KEY is another one.
    const grant = await this.#open(record.grant).catch(() => undefined);
    if (grant !== undefined) await this.#options.oauth().revoke(key.server, grant);
  }

  /** The tenant's own record for the server of a login. */
  #ofTenant({ server }: LoginKey): ConnectionRecord | undefined {
    return this.store.get({ server, user: null });
  }

  /** A user's first login is made with the client that an operator has registered for the tenant's. */
  async #grantFor(key: LoginKey, record: ConnectionRecord | undefined): Promise<JsonObject> {
    if (record !== undefined) return this.#open(record.grant);
    const tenants = key.user === null ? undefined : this.#ofTenant(key);
    const { registered } = tenants === undefined ? {} : await this.#open(tenants.grant);
    return registered === undefined ? {} : { registered };
  }

  /** @throws TroupeError where the user, or the tenant with all of its users, can have no further connection */
  #requireRoom(user: string | null): void {
    if (this.store.count(user) >= MOST_CONNECTIONS)
      throw tooMany(user === null ? "A tenant" : "A user", MOST_CONNECTIONS);
    if (this.store.countAll() >= MOST_CONNECTIONS_IN_ALL)
      throw tooMany("A tenant and its users together", MOST_CONNECTIONS_IN_ALL);
  }

  /** @returns the login, or undefined if the grant was renewed without one */
  async #begin(how: Begin): Promise<StartedConnection | undefined> {
    const { key, baseUrl: base_url, by: started_by, record } = how;
    const { oauth, sealer } = this.#options;
    const { server, user } = key;
    if (record === undefined) this.#requireRoom(user);
    const { grant, login } = await oauth().tokens(how.grant, {
      ...how,
      server,
      forms: clientForms(base_url),
    });
    const kept = await sealer.seal(JSON.stringify(lasting(grant)));
    const now = new Date();
    if (record !== undefined && this.store.get(key) === undefined) {
      // The connection was deleted meanwhile, before its tokens were renewed.
      if (login === null) await oauth().revoke(server, grant);
      throw unknownLogin();
    }
    const existing = record ?? newRecord(now, base_url);
    if (login === null) {
      this.store.put(key, connected(existing, grant, kept));
      return undefined;
    }
    // Until the new login has ended, the present one stays as it is, unless its refresh token was refused.
    const next =
      existing.connected && tokensOf(grant) !== undefined
        ? existing
        : { ...existing, base_url, started_by, connected: false, grant: kept };
    return this.#awaitLogin({ key, next, grant, login, started_by, base_url });
  }

  async #awaitLogin({
    key,
    next,
    login,
    ...begun
  }: {
    key: LoginKey;
    next: ConnectionRecord;
    grant: JsonObject;
    login: BegunLogin;
    started_by: string;
    base_url: string;
  }): Promise<StartedConnection> {
    const { add, authorization_url, expires_at } = await this.pending.prepare(key, login, begun);
    this.store.transaction(() => {
      this.store.put(key, next);
      add();
    });
    return { ...shownConnection(key, next), authorization_url, expires_at };
  }

  #open(sealed: string): Promise<JsonObject> {
    return openGrant(this.#options.sealer, sealed);
  }

  /** Runs one thing at a time for each login. */
  async #inTurn<T>(key: LoginKey, run: () => Promise<T>): Promise<T> {
    const name = connectionId(key);
    const before = this.#inUse.get(name) ?? Promise.resolve();
    const mine = before.then(run, run);
    this.#inUse.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#inUse.get(name) === mine) this.#inUse.delete(name);
    }
  }
}

function newRecord(now: Date, base_url: string): ConnectionRecord {
  return {
    connected: false,
    scope: null,
    issuer: null,
    started_by: null,
    created_at: now.toISOString(),
    connected_at: null,
    base_url,
    grant: "",
  };
}

/** Distinguishes a login from those before and after it at the same server. */
function loginOf({ login, connected_at }: ConnectionRecord): string {
  return login ?? connected_at ?? "";
}

function tooMany(whose: string, limit: number): TroupeError {
  return new TroupeError(
    "too_many_connections",
    `${whose} can have at most ${limit} connections: delete one first.`,
    { data: { limit } },
  );
}
