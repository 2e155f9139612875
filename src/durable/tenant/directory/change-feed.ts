import { ClientStream } from "../../stream/client-stream.ts";
import type { StreamClient, StreamPlaces } from "../../stream/stream-places.ts";
import type { Change, Directory } from "./directory.ts";

const PING_MS = 15_000;

const encoder = new TextEncoder();
const PING = encoder.encode(": ping\n\n");

/**
 * What changes in the directory, as server-sent events: `team`, `run`, `request`, `request_closed` and `team_deleted`, each
 * with the number of the change as its id. A client that comes back is sent the present state of what has changed since,
 * each thing once.
 */
export class ChangeFeed implements StreamPlaces {
  /** The oldest first. */
  readonly #clients = new Map<ClientStream, StreamClient & { runs: boolean }>();
  #ping: ReturnType<typeof setInterval> | undefined;

  /**
   * @param directory undefined: there is nothing yet
   * @param after null: only what changes from now on
   * @param runs whether changes of runs and requests are sent, too, or only those of teams
   */
  open(
    directory: Directory | undefined,
    after: number | null,
    runs: boolean,
    opened: StreamClient,
  ): ReadableStream<Uint8Array> {
    const client = new ClientStream(() => this.#leave(client));
    let frames = "retry: 2000\n\n";
    if (after !== null && directory !== undefined) {
      for (const change of directory.since(after)) {
        if (runs || isOfTeam(change)) frames += frame(change, directory);
      }
    }
    void client.write(encoder.encode(frames));
    this.#clients.set(client, { ...opened, runs });
    this.#ping ??= setInterval(() => this.#send(PING), PING_MS);
    return client.body;
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

  /** The client of a stream has left. */
  closeStream(name: string): void {
    for (const [client, { stream }] of this.#clients) if (stream === name) client.close();
  }

  announce(changes: readonly Change[], directory: Directory): void {
    if (this.#clients.size === 0) return;
    const join = (some: readonly Change[]): Uint8Array =>
      encoder.encode(some.map((change) => frame(change, directory)).join(""));
    const all = join(changes);
    const ofTeams = join(changes.filter(isOfTeam));
    for (const [client, { runs }] of this.#clients) {
      const bytes = runs ? all : ofTeams;
      if (bytes.length > 0) client.push(bytes);
    }
  }

  end(): void {
    for (const client of this.#clients.keys()) client.close();
  }

  #send(bytes: Uint8Array): void {
    for (const client of this.#clients.keys()) client.push(bytes);
  }

  #of(credential: string): ClientStream[] {
    return [...this.#clients]
      .filter(([, client]) => client.credential === credential)
      .map(([client]) => client);
  }

  #leave(client: ClientStream): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    clearInterval(this.#ping);
    this.#ping = undefined;
  }
}

function isOfTeam({ kind }: Change): boolean {
  return kind === "team" || kind === "team_deleted";
}

/** Empty for a team that was deleted in the meantime. */
function frame(change: Change, directory: Directory): string {
  const data = body(change, directory);
  if (data === undefined) return "";
  return `event: ${change.kind}\nid: ${change.changed}\ndata: ${JSON.stringify(data)}\n\n`;
}

function body(change: Change, directory: Directory): unknown {
  switch (change.kind) {
    case "team": {
      const facts = directory.team(change.id);
      return facts && directory.listed(change.id, facts, directory.activityOf(change.id));
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
