import type { Database } from "../storage/database.ts";
import type { Change, Directory } from "./directory.ts";
import type { RunRow } from "./open-runs.ts";

const PING_MS = 15_000;
/** A reader that is further behind is closed; it comes back by its cursor. */
const MOST_BUFFERED_BYTES = 1_000_000;

const encoder = new TextEncoder();
const PING = encoder.encode(": ping\n\n");

/**
 * What changes in the directory, as server-sent events: `team`, `run`, `request`, `request_closed` and `team_deleted`, each with the
 * number of the change as its id. A client that comes back is sent the present state of what has changed since, each
 * thing once.
 */
export class ChangeFeed {
  readonly #db: Database;
  readonly #readers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #ping: ReturnType<typeof setInterval> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  get connected(): number {
    return this.#readers.size;
  }

  /** @param after null: only what comes from now on */
  open(directory: Directory, after: number | null): ReadableStream<Uint8Array> {
    let reader: ReadableStreamDefaultController<Uint8Array> | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = controller;
          controller.enqueue(encoder.encode("retry: 2000\n\n"));
          if (after !== null) {
            for (const change of this.#since(directory, after)) {
              const bytes = frame(change, directory);
              if (bytes) controller.enqueue(bytes);
            }
          }
          this.#readers.add(controller);
          this.#ping ??= setInterval(() => this.#send(PING), PING_MS);
        },
        cancel: () => {
          if (reader) this.#leave(reader);
        },
      },
      { highWaterMark: MOST_BUFFERED_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  announce(changes: readonly Change[], directory: Directory): void {
    if (this.#readers.size === 0) return;
    for (const change of changes) {
      const bytes = frame(change, directory);
      if (bytes) this.#send(bytes);
    }
  }

  end(): void {
    for (const reader of this.#readers) {
      this.#leave(reader);
      reader.close();
    }
  }

  #send(bytes: Uint8Array): void {
    for (const reader of this.#readers) {
      if ((reader.desiredSize ?? 0) > 0) {
        reader.enqueue(bytes);
        continue;
      }
      this.#leave(reader);
      reader.error(new Error("the reader is too far behind"));
    }
  }

  #leave(reader: ReadableStreamDefaultController<Uint8Array>): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#ping);
    this.#ping = undefined;
  }

  /** What has changed since, oldest first. */
  #since(directory: Directory, after: number): Change[] {
    const teams = this.#db
      .all<{ changed: number; id: string }>(
        "select changed, id from activity where changed > ?",
        after,
      )
      .map(({ changed, id }): Change => ({ changed, kind: "team", id }));
    const gone = this.#db
      .all<{ changed: number; id: string }>("select changed, id from gone where changed > ?", after)
      .map(({ changed, id }): Change => ({ changed, kind: "team_deleted", id }));
    const open = [...directory.open.teams()].flatMap(({ runs }) => runs);
    const ended = teams.flatMap((team) =>
      team.kind === "team" ? directory.endedSince(team.id, after) : [],
    );
    const runs = [...open.filter(({ changed }) => changed > after), ...ended].map(
      (row: RunRow): Change => ({ changed: row.changed, kind: "run", row }),
    );
    const requests = this.#db
      .all<{ record: string }>("select record from request")
      .map(({ record }) => JSON.parse(record) as Extract<Change, { kind: "request" }>)
      .filter(({ changed }) => changed > after)
      .map((change): Change => ({ ...change, kind: "request" }));
    return [...teams, ...gone, ...runs, ...requests].toSorted(
      (one, other) => one.changed - other.changed,
    );
  }
}

/** Undefined for a team that was deleted in the meantime. */
function frame(change: Change, directory: Directory): Uint8Array | undefined {
  const data = body(change, directory);
  if (data === undefined) return undefined;
  return encoder.encode(
    `event: ${change.kind}\nid: ${change.changed}\ndata: ${JSON.stringify(data)}\n\n`,
  );
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
