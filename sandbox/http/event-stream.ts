import { acceptsEventStream, EVENT_STREAM_HEADERS } from "../../src/http/event-stream.ts";
import type { ProblemError } from "../problem.ts";
import type { Execution, WaitReason } from "../sessions/execution.ts";
import type { ExecutionResult } from "../sessions/manifest.ts";

/** Between the comments that keep a connection alive. */
export const PING_MS = 15_000;

/** Programs print in small pieces; a frame for each would be several times as long as the text. */
const COLLECT_MS = 10;

/** Shorter waits are not reported. */
const WAIT_MS = 1000;

/** Whether a client asks for a stream of events. */
export function wantsEvents(request: Request): boolean {
  return acceptsEventStream(request.headers.get("accept"));
}

/**
 * Streams an execution: its output from the beginning and as it is printed, when it waits and when it runs again, and last
 * its result or the problem that prevented one.
 */
export function executionEvents(
  execution: Execution,
  problemOf: (error: unknown) => ProblemError,
): Response {
  let stop = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (frame: string): void => controller.enqueue(Buffer.from(frame));
      const output = new CollectedOutput((text) => send(event("output", { text })));
      const status = new WaitStatus((frame) => {
        output.flush();
        send(frame);
      });
      const pings = setInterval(() => send(": ping\n\n"), PING_MS);
      const stopOutput = execution.output.listen((text) => output.add(text));
      const stopStatus = execution.watchWaiting((reason) => status.set(reason));
      let stopped = false;
      stop = () => {
        stopped = true;
        clearInterval(pings);
        output.stop();
        status.stop();
        stopOutput();
        stopStatus();
      };
      const end = (frame: string): void => {
        if (stopped) return;
        output.flush();
        stop();
        send(frame);
        controller.close();
      };
      execution.result.then(
        (result) => end(event("result", result)),
        (error: unknown) => end(event("error", problemOf(error))),
      );
    },
    cancel: () => stop(),
  });
  return stream(body);
}

/** Joins the pieces that a program prints within a few milliseconds. */
class CollectedOutput {
  readonly #send: (text: string) => void;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  add(text: string): void {
    this.#text += text;
    this.#timer ??= setTimeout(() => this.flush(), COLLECT_MS);
  }

  flush(): void {
    this.stop();
    if (this.#text !== "") this.#send(this.#text);
    this.#text = "";
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Sends `waiting` and `running`, but not for a short wait. */
class WaitStatus {
  readonly #send: (frame: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #sent = false;

  constructor(send: (frame: string) => void) {
    this.#send = send;
  }

  set(reason: WaitReason | undefined): void {
    this.stop();
    if (reason === undefined) {
      if (this.#sent) this.#send(event("running", {}));
      this.#sent = false;
    } else if (reason === "interrupted") this.#report(reason);
    else this.#timer = setTimeout(() => this.#report(reason), WAIT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #report(reason: WaitReason): void {
    this.#send(event("waiting", { reason }));
    this.#sent = true;
  }
}

/** Streams a recorded result. */
export function recordedEvents(result: ExecutionResult): Response {
  return stream(
    (result.output === "" ? "" : event("output", { text: result.output })) +
      event("result", result),
  );
}

export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function stream(body: ReadableStream<Uint8Array> | string): Response {
  return new Response(body, {
    headers: EVENT_STREAM_HEADERS,
  });
}
