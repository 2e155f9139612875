import type { LoginReturn, LoginWanted } from "../../contract/gateways/tenant-gateway.ts";
import type {
  ConnectionInfo,
  CreateConnection,
  StartedConnection,
} from "../../contract/tenant/connection.ts";
import { MOST_CONNECTIONS } from "../../contract/constants.ts";
import { toBase64 } from "../../core/base64.ts";
import { TroupeError } from "../../core/errors.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LoginAnswer } from "../../core/steps/server-logins.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import {
  type ConnectionRecord,
  type ConnectionStore,
  type PendingLogin,
  shownConnection,
} from "./connection-store.ts";
import { lasting, loginForm, type OAuth, plainServer, suffices, tokensOf } from "./grants.ts";
import type { LoginAnswers } from "./login-answers.ts";

/** How long the address of a login works: a run may wait over a weekend. */
const LOGIN_MS = 7 * 86_400_000;

const STATE_BYTES = 32;

export interface ConnectionsOptions {
  tenant: string;
  store: ConnectionStore;
  sealer: Sealer;
  oauth: () => OAuth;
  /** The address at which browsers reach the service; undefined if it is not known. */
  publicUrl: () => string | undefined;
  answers: LoginAnswers;
}

interface Begin {
  server: string;
  record: ConnectionRecord | undefined;
  grant: JsonObject;
  /** The address at which browsers reach the service. */
  baseUrl: string;
  /** The credential or the run that begins it. */
  by: string;
  /** Whether the server has said what it wants. */
  asked: boolean;
  scope: string | null;
  resourceMetadata: string | null;
  /** Whether a new login is wanted even if the grant can be renewed. */
  login: boolean;
}

/** The logins of a tenant at MCP servers: begins and ends them, and gives out and renews their access tokens. */
export class Connections {
  readonly store: ConnectionStore;
  readonly answers: LoginAnswers;
  readonly #options: ConnectionsOptions;
  /** The last use of each grant: one at a time, because a refresh token is good for one request. */
  readonly #inUse = new Map<string, Promise<unknown>>();

  constructor(options: ConnectionsOptions) {
    this.store = options.store;
    this.answers = options.answers;
    this.#options = options;
  }

  /** Begins a login. @param by the address at which the caller reaches the service, and its credential */
  start(
    { server: given, scope, client_id, client_secret, issuer }: CreateConnection,
    by: { baseUrl: string; credential: string },
  ): Promise<StartedConnection> {
    const server = plainServer(given);
    return this.#inTurn(server, async () => {
      const record = this.store.get(server);
      const stored = record === undefined ? {} : await this.#open(record.grant);
      const registered = client_id !== undefined && {
        client_id,
        ...(client_secret !== undefined && { client_secret }),
        ...(issuer !== undefined && { issuer }),
      };
      const begun = await this.#begin({
        server,
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
    const server = plainServer(wanted.server);
    return this.#inTurn(server, async () => {
      const record = this.store.get(server);
      const grant = record === undefined ? {} : await this.#open(record.grant);
      const tokens = record?.connected ? tokensOf(grant) : undefined;
      if (tokens !== undefined && suffices(tokens, wanted)) {
        return { token: tokens.access_token, fresh: false };
      }
      const { team, run, request, rejected, fresh, insufficient } = wanted;
      const { scope, resourceMetadata } = wanted;
      const wait = { server, team, run, request, since: null };
      const baseUrl = this.#options.publicUrl() ?? record?.base_url;
      if (baseUrl === undefined) {
        this.store.waits(wait);
        return { login: { url: null } };
      }
      const login = insufficient || (fresh && rejected !== null);
      const by = `run ${run} of the team ${team}`;
      const asked = { asked: true, scope, resourceMetadata, login };
      const begun = await this.#begin({ server, record, grant, baseUrl, by, ...asked });
      if (begun === undefined) return this.#renewed(server);
      this.store.waits(wait);
      return { login: { url: begun.authorization_url } };
    });
  }

  /** Ends a login that a human has made. Each is taken once, whether or not it succeeds. */
  async redeem({ state, ...back }: LoginReturn): Promise<ConnectionInfo> {
    const { oauth, sealer } = this.#options;
    const pending = this.store.takePending(await sha256Hex(state));
    if (pending === undefined || pending.until <= Date.now()) throw unknownLogin();
    const { server } = pending;
    return this.#inTurn(server, async () => {
      const begun = await this.#open(pending.grant);
      const form = loginForm(pending.base_url, state);
      const grant = await oauth().redeem(begun, { ...form, ...back, server });
      const sealed = await sealer.seal(JSON.stringify(grant));
      const before = this.store.get(server);
      // The connection was deleted meanwhile.
      if (before === undefined) throw unknownLogin();
      const record = {
        ...connected(before, grant, sealed),
        connected_at: new Date().toISOString(),
        started_by: pending.started_by,
      };
      this.store.transaction(() => {
        this.store.put(server, record);
        this.answers.loggedIn(server);
      });
      return shownConnection(server, record);
    });
  }

  /** @returns the login, or undefined if the grant was renewed without one */
  async #begin(how: Begin): Promise<StartedConnection | undefined> {
    const { server, baseUrl: base_url, by: started_by, record } = how;
    const { oauth, sealer } = this.#options;
    if (record === undefined && this.store.list().length >= MOST_CONNECTIONS) throw tooMany();
    const state = this.#newState();
    const { grant, url } = await oauth().tokens(how.grant, {
      ...loginForm(base_url, state),
      ...how,
    });
    const kept = await sealer.seal(JSON.stringify(lasting(grant)));
    const now = new Date();
    // The connection was deleted meanwhile.
    if (record !== undefined && this.store.get(server) === undefined) throw unknownLogin();
    const existing = record ?? newRecord(now, base_url);
    if (url === null) {
      this.store.put(server, connected(existing, grant, kept));
      return undefined;
    }
    const pending: PendingLogin = {
      server,
      started_by,
      base_url,
      grant: await sealer.seal(JSON.stringify(grant)),
      until: now.getTime() + LOGIN_MS,
    };
    const key = await sha256Hex(state);
    // Until the new login has ended, the present one stays as it is, unless its refresh token was refused.
    const next =
      existing.connected && tokensOf(grant) !== undefined
        ? existing
        : { ...existing, base_url, started_by, connected: false, grant: kept };
    this.store.transaction(() => {
      this.store.put(server, next);
      this.store.addPending(key, pending, now.getTime());
    });
    return {
      ...shownConnection(server, next),
      authorization_url: url,
      expires_at: new Date(pending.until).toISOString(),
    };
  }

  async #renewed(server: string): Promise<LoginAnswer> {
    const record = this.store.get(server);
    const tokens = record && tokensOf(await this.#open(record.grant));
    if (tokens === undefined) throw unknownLogin();
    return { token: tokens.access_token, fresh: true };
  }

  /** The tenant, by which the way back finds this object, and a secret. */
  #newState(): string {
    const bytes = toBase64(crypto.getRandomValues(new Uint8Array(STATE_BYTES)));
    const secret = bytes.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `${this.#options.tenant}.${secret}`;
  }

  async #open(sealed: string): Promise<JsonObject> {
    try {
      return JSON.parse(await this.#options.sealer.open(sealed)) as JsonObject;
    } catch (cause) {
      throw new TroupeError(
        "secrets_unreadable",
        "The tokens of the connection cannot be read: SECRETS_KEY is not the one they were stored with. Delete the connection and log in again.",
        { cause },
      );
    }
  }

  /** Runs one thing at a time for each server. */
  async #inTurn<T>(server: string, run: () => Promise<T>): Promise<T> {
    const before = this.#inUse.get(server) ?? Promise.resolve();
    const mine = before.then(run, run);
    this.#inUse.set(server, mine);
    try {
      return await mine;
    } finally {
      if (this.#inUse.get(server) === mine) this.#inUse.delete(server);
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

function connected(before: ConnectionRecord, grant: JsonObject, sealed: string): ConnectionRecord {
  const { scope = null, issuer = null } = tokensOf(grant) ?? {};
  return { ...before, scope, issuer, connected: true, grant: sealed };
}

function tooMany(): TroupeError {
  return new TroupeError(
    "too_many_connections",
    `A tenant can have at most ${MOST_CONNECTIONS} connections: delete one first.`,
    { data: { limit: MOST_CONNECTIONS } },
  );
}

function unknownLogin(): TroupeError {
  return new TroupeError("login_not_found", "This login is unknown, over, or was already used.");
}
