import type { Contender } from "./contender.ts";
import { atOnce } from "./load.ts";
import { median, percentile } from "../support/statistics.ts";
import type { TroupeServer } from "./troupe-server.ts";

const AT_ONCE = 16;

export interface Held {
  streams: number;
  /** Resident bytes that each takes. */
  bytesEach: number;
  /** From the request of a run until its first event is in a stream, in milliseconds. */
  event: { p50: number; p99: number };
}

/** Holds streams of all that happens in teams, and starts a run in each team. */
export async function holdStreams(
  { server, ...troupe }: Contender & { server: TroupeServer },
  { teams, perTeam }: { teams: number; perTeam: number },
): Promise<Held> {
  const ids: string[] = [];
  await atOnce(AT_ONCE, teams, async () => {
    ids.push(await troupe.create());
  });
  const before = troupe.process.memory();
  const leave = new AbortController();
  const watchers = new Map<string, Watcher[]>();
  await atOnce(AT_ONCE, teams * perTeam, async (index) => {
    const id = ids[index % teams] ?? "";
    const accept = { accept: "text/event-stream" };
    const response = await server.send("GET", `/v1/teams/${id}/events`, undefined, accept);
    watchers.set(id, [...(watchers.get(id) ?? []), new Watcher(response, leave.signal)]);
  });
  const bytesEach = (troupe.process.memory() - before) / (teams * perTeam);
  const delays: number[] = [];
  await atOnce(1, teams, async (index) => {
    const id = ids[index] ?? "";
    const began = performance.now();
    const events = (watchers.get(id) ?? []).map((watcher) => watcher.next());
    await server.json("POST", `/v1/teams/${id}/runs`, { task: "Hello" });
    for (const at of await Promise.all(events)) delays.push(at - began);
  });
  leave.abort();
  await atOnce(AT_ONCE, teams, async (index) => troupe.delete(ids[index] ?? ""));
  return {
    streams: teams * perTeam,
    bytesEach,
    event: { p50: median(delays), p99: percentile(delays, 0.99) },
  };
}

/** A client that reads a stream. */
class Watcher {
  #arrived: (at: number) => void = () => {};

  constructor({ body }: Response, leave: AbortSignal) {
    if (body === null) throw new TypeError("the stream has no body");
    const decoder = new TextDecoder();
    const sink = new WritableStream<Uint8Array>({
      write: (bytes) => {
        // Comments keep the connection open.
        if (/^data:/m.test(decoder.decode(bytes))) this.#arrived(performance.now());
      },
    });
    void body.pipeTo(sink, { signal: leave }).catch(() => undefined);
  }

  /** When the next event arrives. */
  next(): Promise<number> {
    return new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }
}
