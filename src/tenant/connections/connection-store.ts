import type { ListedRequest } from "../../contract/directory.ts";
import type { ConnectionQuery, LoginKey } from "../../contract/gateways/tenant-gateway.ts";
import { type LoginSight, maySee, withLogin } from "../../contract/gateways/login-sight.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { ConnectionInfo, ConnectionList } from "../../contract/tenant/connection.ts";
import { hashId } from "../../core/hash.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";

/** A stored connection. */
export interface ConnectionRecord extends Omit<
  ConnectionInfo,
  "id" | "server" | "user" | "status"
> {
  connected: boolean;
  /** A new one for each time that a human logs in. In records of earlier versions `connected_at` has its place. */
  login?: string;
  /** The address of this service at which the last login was begun. */
  base_url: string;
  /** The grant, sealed. */
  grant: string;
}

/** A login that has begun. */
export interface PendingLogin {
  server: string;
  /** Missing in logins that earlier versions have begun: they are the tenant's. */
  user?: string | null;
  started_by: string;
  /** The address of this service that the browser comes back to. */
  base_url: string;
  /** The grant of the login with its PKCE verifier, sealed. */
  grant: string;
  /** Epoch milliseconds. */
  until: number;
  /** Missing in logins that earlier versions have begun, which led directly to the authorization server. */
  page?: PendingPage;
}

/** The continuation of a login from its page. */
export interface PendingPage {
  /** The address of the authorization endpoint, without `state`, sealed. */
  url: string;
  /** The identifier of the authorization server. */
  issuer: string;
  /** The callback of its own that it has (`issuerName`); null for the one that is shared. */
  callback: string | null;
  /** Browsers that have continued, by hashes of their `state` and cookie; the latest ones. */
  browsers: { state: string; cookie: string }[];
}

/** A question of a run that a login answers. */
export interface LoginWait extends LoginKey {
  team: string;
  request: string;
  run: string;
  /** The page of the login; null or missing where it could not be made, and in those of earlier versions. */
  url?: string | null;
  /** When a human has logged in, epoch milliseconds; null until then. */
  since: number | null;
}

/** Logins that have begun; above that the oldest are dropped. */
const MOST_PENDING = 10_000;
/** The same for one server and user: those of one user do not drop those of others. */
const MOST_PENDING_OF_ONE = 200;

/** The condition that a login that has begun is for a server and a user, as an index has it. */
const PENDING_OF_ONE = "record ->> '$.server' = ? and coalesce(record ->> '$.user', '') = ?";

/** The tenant's own logins have no user. */
const TENANT = "";

interface ConnectionRow extends Record<string, string> {
  user: string;
  server: string;
  record: string;
}

/** The id of a connection. */
export function connectionId({ server, user }: LoginKey): string {
  return hashId(user === null ? server : JSON.stringify([user, server]));
}

/** The connections of a tenant and its users, the logins that have begun, and the questions that wait for one. */
export class ConnectionStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  transaction<T>(run: () => T): T {
    return this.#db.transaction(run);
  }

  get({ user, server }: LoginKey): ConnectionRecord | undefined {
    const row = this.#db.first<{ record: string }>(
      "select record from connection where user = ? and server = ?",
      user ?? TENANT,
      server,
    );
    return row && (JSON.parse(row.record) as ConnectionRecord);
  }

  put({ user, server }: LoginKey, record: ConnectionRecord): void {
    this.#db.write(
      "insert into connection values (?, ?, ?) on conflict (user, server) do update set record = excluded.record",
      user ?? TENANT,
      server,
      JSON.stringify(record),
    );
  }

  /** The number of connections of a user, or of the tenant itself. */
  count(user: string | null): number {
    const counted = "select count(*) as n from connection where user = ?";
    return this.#db.first<{ n: number }>(counted, user ?? TENANT)?.n ?? 0;
  }

  /** The number of connections of the tenant and all of its users. */
  countAll(): number {
    return this.#db.first<{ n: number }>("select count(*) as n from connection")?.n ?? 0;
  }

  /** A page of the connections, by user and server. */
  page({ users, limit, cursor }: ConnectionQuery): Result<ConnectionList> {
    const start = cursor === undefined ? ["", ""] : fromCursor(cursor, ["string", "string"]);
    if (start === undefined) return invalidCursor();
    const connections: ConnectionInfo[] = [];
    for (const { key, record } of this.#all(start as [string, string], users)) {
      const last = connections.at(-1);
      if (connections.length === limit && last !== undefined) {
        return ok({ connections, next_cursor: toCursor(last.user ?? TENANT, last.server) });
      }
      connections.push(shownConnection(key, record));
    }
    return ok({ connections, next_cursor: null });
  }

  /** @param users see {@link ConnectionQuery} */
  find(id: string, users: ConnectionQuery["users"]): LoginKey | undefined {
    for (const { key } of this.#all(["", ""], users)) if (connectionId(key) === id) return key;
    return undefined;
  }

  /** Forgets a connection and the logins that have begun for it. */
  remove({ server, user }: LoginKey): void {
    const of = user ?? TENANT;
    this.#db.write("delete from connection where user = ? and server = ?", of, server);
    this.#db.write(`delete from login where ${PENDING_OF_ONE}`, server, of);
  }

  /** @param key the hash of the ticket */
  addPending(key: string, login: PendingLogin, now: number): void {
    const { server, user } = login;
    this.#db.write("delete from login where record ->> '$.until' <= ?", now);
    this.#dropOldest(`where ${PENDING_OF_ONE}`, [server, user ?? TENANT], MOST_PENDING_OF_ONE - 1);
    this.#dropOldest("", [], MOST_PENDING - 1);
    this.putPending(key, login);
  }

  putPending(key: string, login: PendingLogin): void {
    this.#db.write(
      "insert into login values (?, ?) on conflict (state) do update set record = excluded.record",
      key,
      JSON.stringify(login),
    );
  }

  pending(key: string): PendingLogin | undefined {
    const row = this.#db.first<{ record: string }>("select record from login where state = ?", key);
    return row && (JSON.parse(row.record) as PendingLogin);
  }

  dropPending(key: string): void {
    this.#db.write("delete from login where state = ?", key);
  }

  /** A team has one run at a time: its questions of earlier runs are over. */
  waits({ team, request, ...wait }: LoginWait): void {
    for (const earlier of this.#waits("where team = ?", team)) {
      if (earlier.run !== wait.run) this.endWait(earlier);
    }
    this.#db.write(
      "insert into login_wait values (?, ?, ?) on conflict (team, request) do update set record = excluded.record",
      team,
      request,
      JSON.stringify(wait),
    );
  }

  waiting(): LoginWait[] {
    return this.#waits();
  }

  /** The request with the address of its login, for those who may have it. */
  withLogin(request: ListedRequest, sight: LoginSight | undefined): ListedRequest {
    const { login, team_id, id } = request;
    if (login === undefined || sight === undefined || !maySee(sight, login)) return request;
    const [{ url = null } = {}] = this.#waits("where team = ? and request = ?", team_id, id);
    return withLogin(request, { ...login, url }, sight);
  }

  endWait({ team, request }: Pick<LoginWait, "team" | "request">): void {
    this.#db.write("delete from login_wait where team = ? and request = ?", team, request);
  }

  /** The team is deleted. */
  endWaitsOf(team: string): void {
    this.#db.write("delete from login_wait where team = ?", team);
  }

  *#all(
    start: readonly [string, string],
    users: ConnectionQuery["users"],
  ): Generator<{ key: LoginKey; record: ConnectionRecord }> {
    const of = users === undefined ? "" : "user in (select value from json_each(?)) and ";
    const named = users === undefined ? [] : [JSON.stringify(users.map((user) => user ?? TENANT))];
    const rows = this.#db.each<ConnectionRow>(
      `select user, server, record from connection where ${of}(user, server) > (?, ?) order by user, server`,
      [...named, ...start],
      (row) => [...named, row.user, row.server],
    );
    for (const row of rows) {
      const key = { user: row.user === TENANT ? null : row.user, server: row.server };
      yield { key, record: JSON.parse(row.record) as ConnectionRecord };
    }
  }

  #waits(where = "", ...values: string[]): LoginWait[] {
    return this.#db
      .all<{ team: string; request: string; record: string }>(
        `select team, request, record from login_wait ${where}`,
        ...values,
      )
      .map(({ record, ...key }) => {
        return { ...key, user: null, ...(JSON.parse(record) as object) } as LoginWait;
      });
  }

  /** Drops logins that have begun, except the latest ones. */
  #dropOldest(where: string, values: readonly string[], kept: number): void {
    this.#db.write(
      `delete from login where state in (
         select state from login ${where} order by record ->> '$.until' desc limit -1 offset ?
       )`,
      ...values,
      kept,
    );
  }
}

/** True if a login is for the same server and user. */
export function isSame(one: LoginKey, other: LoginKey): boolean {
  return one.server === other.server && one.user === other.user;
}

export function shownConnection(key: LoginKey, record: ConnectionRecord): ConnectionInfo {
  const { connected, scope, issuer, started_by, created_at, connected_at } = record;
  const status = connected ? "connected" : "login_needed";
  const shown = { scope, issuer, started_by, created_at, connected_at };
  return { id: connectionId(key), server: key.server, user: key.user, status, ...shown };
}
