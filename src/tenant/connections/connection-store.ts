import type { ConnectionInfo } from "../../contract/tenant/connection.ts";
import { hashId } from "../../core/hash.ts";
import type { Database } from "../../sqlite/database.ts";

/** A stored connection. */
export interface ConnectionRecord extends Omit<ConnectionInfo, "id" | "server" | "status"> {
  connected: boolean;
  /** The address of this service at which the last login was begun. */
  base_url: string;
  /** The grant, sealed. */
  grant: string;
}

/** A login that has begun. */
export interface PendingLogin {
  server: string;
  started_by: string;
  /** The address of this service that the browser comes back to. */
  base_url: string;
  /** The grant of the login with its PKCE verifier, sealed. */
  grant: string;
  /** Epoch milliseconds. */
  until: number;
}

/** A question of a run that a login answers. */
export interface LoginWait {
  server: string;
  team: string;
  request: string;
  run: string;
  /** When a human has logged in, epoch milliseconds; null until then. */
  since: number | null;
}

/** Logins that have begun; above that the oldest are dropped. */
const MOST_PENDING = 1_000;

/** The id of the connection to a server. */
export function connectionId(server: string): string {
  return hashId(server);
}

/** The connections of a tenant, the logins that have begun, and the questions that wait for one. */
export class ConnectionStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  transaction<T>(run: () => T): T {
    return this.#db.transaction(run);
  }

  get(server: string): ConnectionRecord | undefined {
    const row = this.#db.first<{ record: string }>(
      "select record from connection where server = ?",
      server,
    );
    return row && (JSON.parse(row.record) as ConnectionRecord);
  }

  put(server: string, record: ConnectionRecord): void {
    this.#db.write(
      "insert into connection values (?, ?) on conflict (server) do update set record = excluded.record",
      server,
      JSON.stringify(record),
    );
  }

  list(): ConnectionInfo[] {
    return this.#db
      .all<{ server: string; record: string }>(
        "select server, record from connection order by server",
      )
      .map(({ server, record }) => shownConnection(server, JSON.parse(record) as ConnectionRecord));
  }

  /** Forgets a connection and the logins that have begun for it. */
  remove(server: string): void {
    this.#db.write("delete from connection where server = ?", server);
    for (const { key, record } of this.#pending()) {
      if (record.server === server) this.dropPending(key);
    }
  }

  /** @param key the hash of the parameter `state` */
  addPending(key: string, login: PendingLogin, now: number): void {
    const pending = this.#pending();
    const over = pending.filter(({ record }) => record.until <= now);
    const excess = pending
      .filter(({ record }) => record.until > now)
      .toSorted((one, other) => one.record.until - other.record.until)
      .slice(0, Math.max(0, pending.length - over.length + 1 - MOST_PENDING));
    for (const old of [...over, ...excess]) this.dropPending(old.key);
    this.#db.write("insert into login values (?, ?)", key, JSON.stringify(login));
  }

  /** A login is taken once. */
  takePending(key: string): PendingLogin | undefined {
    const row = this.#db.first<{ record: string }>("select record from login where state = ?", key);
    if (row === undefined) return undefined;
    this.dropPending(key);
    return JSON.parse(row.record) as PendingLogin;
  }

  dropPending(key: string): void {
    this.#db.write("delete from login where state = ?", key);
  }

  /** A team has one run at a time: its questions of earlier runs are over. */
  waits({ team, request, server, run, since }: LoginWait): void {
    for (const wait of this.#waits("where team = ?", team)) {
      if (wait.run !== run) this.endWait(wait);
    }
    this.#db.write(
      "insert into login_wait values (?, ?, ?) on conflict (team, request) do update set record = excluded.record",
      team,
      request,
      JSON.stringify({ server, run, since }),
    );
  }

  waiting(): LoginWait[] {
    return this.#waits();
  }

  endWait({ team, request }: Pick<LoginWait, "team" | "request">): void {
    this.#db.write("delete from login_wait where team = ? and request = ?", team, request);
  }

  #waits(where = "", ...values: string[]): LoginWait[] {
    return this.#db
      .all<{ team: string; request: string; record: string }>(
        `select team, request, record from login_wait ${where}`,
        ...values,
      )
      .map(({ record, ...key }) => ({ ...key, ...(JSON.parse(record) as object) }) as LoginWait);
  }

  #pending(): { key: string; record: PendingLogin }[] {
    return this.#db
      .all<{ state: string; record: string }>("select state, record from login")
      .map(({ state, record }) => ({ key: state, record: JSON.parse(record) as PendingLogin }));
  }
}

export function shownConnection(
  server: string,
  { connected, scope, issuer, started_by, created_at, connected_at }: ConnectionRecord,
): ConnectionInfo {
  const status = connected ? "connected" : "login_needed";
  const id = connectionId(server);
  return { id, server, status, scope, issuer, started_by, created_at, connected_at };
}
