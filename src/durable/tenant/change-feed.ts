import type { Change, Directory } from "./directory.ts";

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
  readonly #readers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #ping: ReturnType<typeof setInterval> | undefined;

  /**
   * @param directory undefined: there is nothing yet
   * @param after null: only what changes from now on
   */
  open(directory: Directory | undefined, after: number | null): ReadableStream<Uint8Array> {
    let reader: ReadableStreamDefaultController<Uint8Array> | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = controller;
          controller.enqueue(encoder.encode("retry: 2000\n\n"));
          if (after !== null && directory !== undefined) {
            for (const change of directory.since(after)) {
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
