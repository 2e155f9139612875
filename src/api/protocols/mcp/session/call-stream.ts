import type { ProgressToken, RequestId } from "@modelcontextprotocol/server";
import * as z from "zod";
import { fromBase64Url, toBase64Url } from "../../../../core/base64.ts";

const placeSchema = z.object({
  team: z.string(),
  run: z.string(),
  /** The id of the call's request, which its response has. */
  request: z.union([z.string(), z.number()]),
  token: z.union([z.string(), z.number()]).exactOptional(),
  /** The name of the team's own tool, if the call is one of it. */
  tool: z.string().exactOptional(),
  /** When the call ends waiting, in seconds since 1970. */
  until: z.number(),
  /** The sent items: the team's cursor, notifications of progress, and questions. */
  cursor: z.int().min(0),
  progress: z.int().min(0),
  asked: z.array(z.string()),
});

/**
 * A place in the stream of a call that waits for a run. It is what an event's id says, so that any server can continue the stream:
 * none keeps anything of it.
 */
export interface CallPlace extends z.output<typeof placeSchema> {
  request: RequestId;
  token?: ProgressToken;
}

/** The place that an id names; undefined for one that was not made here. */
export function parsePlace(id: string): CallPlace | undefined {
  try {
    const read = placeSchema.safeParse(
      JSON.parse(new TextDecoder().decode(fromBase64Url(id))) as unknown,
    );
    return read.data;
  } catch {
    return undefined;
  }
}

/** Gives the events of a call's stream their ids. */
export class CallStream {
  #place: CallPlace | undefined;
  /** Those of events that are on their way. */
  readonly #ids: string[] = [];
  readonly #primes: boolean;
  /** True if the client has an id with which it can come back. */
  #canContinue = false;
  #isInterrupted = false;
  #output: TransformStreamDefaultController<Uint8Array> | undefined;

  /** @param version the revision of the protocol; clients of those before 2025-11-25 read each event as a message */
  constructor(version: string) {
    this.#primes = version >= "2025-11-25";
  }

  /** The call waits for a run: an event without data shows the client that it can reconnect. */
  begin(place: CallPlace): void {
    this.#place = place;
    if (!this.#primes || this.#output === undefined) return;
    this.#output.enqueue(new TextEncoder().encode(`id: ${idOf(place)}\ndata: \n\n`));
    this.#canContinue = true;
  }

  /** Ends the stream before the call's result, after all that was sent, if the client can continue it. */
  interrupt(): void {
    if (!this.#canContinue) return;
    this.#isInterrupted = true;
    if (this.#ids.length === 0) this.#output?.terminate();
  }

  /** An event is sent next, after which this is the place. */
  next(sent: Pick<CallPlace, "cursor" | "progress" | "asked">): void {
    if (this.#place === undefined) return;
    this.#place = { ...this.#place, ...sent };
    this.#ids.push(idOf(this.#place));
  }

  /** The response with ids of its events, each of which comes as a chunk. */
  stamp(response: Response): Response {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || response.body === null) return response;
    const encoder = new TextEncoder();
    const stamped = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        this.#output = controller;
        if (this.#place !== undefined) this.begin(this.#place);
      },
      transform: (chunk, controller) => {
        const id = this.#ids.shift() ?? (this.#place && idOf(this.#place));
        this.#canContinue ||= id !== undefined;
        // One piece: a client that has the id has the event.
        controller.enqueue(id === undefined ? chunk : joined(encoder.encode(`id: ${id}\n`), chunk));
        if (this.#isInterrupted && this.#ids.length === 0) controller.terminate();
      },
      flush: () => {
        this.#output = undefined;
      },
    });
    // Leaving ends the stream, not the run.
    void response.body.pipeTo(stamped.writable).catch(() => (this.#output = undefined));
    return new Response(stamped.readable, response);
  }
}

function idOf(place: CallPlace): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(place)));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
