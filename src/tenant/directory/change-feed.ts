import type { ListedRequest } from "../../contract/directory.ts";
import type { LoginSight } from "../../contract/gateways/login-sight.ts";
import type { WatchedChanges } from "../../contract/gateways/tenant-gateway.ts";
import { Batch, type ClientConnection } from "../../team/stream/batch.ts";
import type { StreamClient, StreamPlaces } from "../../team/stream/stream-places.ts";
import type { Change, Directory } from "./directory.ts";

/** The subscription of a watcher. */
export interface Watched {
  changes: WatchedChanges;
  /** The user whose teams it watches; undefined for all. */
  team_user: string | undefined;
}

export interface FeedClient extends StreamClient, Watched {}

interface FeedWatcher {
  client: FeedClient;
  connection: ClientConnection;
}

/** Shows a request with the address of its login to those who may have it. */
type WithLogin = (request: ListedRequest, sight: LoginSight) => ListedRequest;

/** Frames that are sent together. */
const PAGE_CHARACTERS = 64 * 1024;

/**
 * Streams changes of the directory as server-sent events: `team`, `run`, `request`, `request_closed` and
 * `team_deleted`. The id of each event is the number of the change. A client that reconnects gets the current state of
 * everything that has changed since, each item once.
 */
export class ChangeFeed implements StreamPlaces {
  /** All watchers, including those that still get what has changed before. */
  readonly #clients = new Map<ClientConnection, FeedClient>();
  /** Those that get changes as they happen. */
  readonly #live = new Set<ClientConnection>();
  readonly #withLogin: WithLogin;

  constructor(withLogin: WithLogin) {
    this.#withLogin = withLogin;
  }

  /**
   * Sends what has changed, as fast as the client takes it, and what changes from then on.
   *
   * @param directory undefined when the tenant has no stored data yet
   * @param after null: only changes from now on
   */
  open(
    directory: Directory | undefined,
    after: number | null,
    client: FeedClient,
    connection: ClientConnection,
  ): void {
    this.#enter(client, connection);
    const start = { cursor: after ?? directory?.lastChange ?? 0, client, connection };
    this.#replay(directory, start).catch((error: unknown) => connection.abort(error));
  }

  /** Continues with a client that has received everything so far. */
  restore(client: FeedClient, connection: ClientConnection): void {
    this.#enter(client, connection);
    this.#live.add(connection);
  }

  #enter(client: FeedClient, connection: ClientConnection): void {
    connection.onLeft = () => {
      this.#clients.delete(connection);
      this.#live.delete(connection);
    };
    this.#clients.set(connection, client);
  }

  async #replay(
    directory: Directory | undefined,
    { cursor, client, connection }: { cursor: number } & FeedWatcher,
  ): Promise<void> {
    let frames = "retry: 2000\n\n";
    let sent = cursor;
    for (let changes = directory?.since(sent) ?? []; changes.length > 0;) {
      for (const change of changes) {
        sent = change.changed;
        if (isFor(change, client)) frames += frame(this.#shown(change, client), directory);
        if (frames.length < PAGE_CHARACTERS) continue;
        await connection.write(new Batch(frames, sent));
        if (connection.closed) return;
        frames = "";
      }
      // More may have changed while the client read.
      changes = directory?.since(sent) ?? [];
    }
    this.#live.add(connection);
    connection.push(new Batch(frames, sent));
  }

  get streams(): number {
    return this.#clients.size;
  }

  streamsOf(credential: string): number {
    return this.#of(credential).length;
  }

  closeOldest(credential: string): boolean {
    const [oldest] = this.#of(credential);
    oldest?.close();
    return oldest !== undefined;
  }

  announce(changes: readonly Change[], directory: Directory): void {
    if (this.#live.size === 0 || changes.length === 0) return;
    const cursor = Math.max(...changes.map(({ changed }) => changed));
    const asksForLogin = changes.some(isLogin);
    // One for all clients that watch the same.
    const batches = new Map<string, Batch>();
    for (const connection of this.#live) {
      const client = this.#clients.get(connection);
      if (client === undefined) continue;
      const { changes: watched, team_user, sees } = client;
      const key = JSON.stringify([watched, team_user, asksForLogin && sees]);
      const frames = (): string =>
        changes
          .filter((change) => isFor(change, client))
          .map((change) => frame(this.#shown(change, client), directory))
          .join("");
      const batch = batches.get(key) ?? new Batch(frames(), cursor);
      batches.set(key, batch);
      connection.push(batch);
    }
  }

  #shown(change: Change, { sees }: FeedClient): Change {
    if (sees === undefined || change.kind !== "request" || !isLogin(change)) return change;
    return { ...change, request: this.#withLogin(change.request, sees) };
  }

  end(): void {
    for (const connection of this.#clients.keys()) connection.close();
  }

  #of(credential: string): ClientConnection[] {
    return [...this.#clients]
      .filter(([, client]) => client.credential === credential)
      .map(([connection]) => connection);
  }
}

function isLogin(change: Change): boolean {
  return change.kind === "request" && change.request.login !== undefined;
}

function isFor({ kind, team_user }: Change, { changes, team_user: only }: Watched): boolean {
  if (only !== undefined && team_user !== only) return false;
  if (changes === "requests") return kind !== "team" && kind !== "run";
  return changes === "all" || kind === "team" || kind === "team_deleted";
}

/** Returns nothing for a team that was deleted in the meantime. */
function frame(change: Change, directory: Directory | undefined): string {
  const data = directory && body(change, directory);
  if (data === undefined) return "";
  return `event: ${change.kind}\nid: ${change.changed}\ndata: ${JSON.stringify(data)}\n\n`;
}

function body(change: Change, directory: Directory): unknown {
  switch (change.kind) {
    case "team": {
      const facts = directory.team(change.id);
      const activity = directory.activityOf(change.id);
      return (
        facts && {
          ...directory.listed(change.id, facts, activity),
          ...directory.shown(change.id, activity),
        }
      );
    }
    case "run":
      return change.row.run;
    case "request":
      return change.request;
    case "request_closed":
      return { id: change.id, team_id: change.team_id };
    case "team_deleted":
      return { id: change.id };
  }
}
