import type { ProblemError } from "../problem.ts";
import type { Execution } from "../sessions/execution.ts";
import type { ExecutionResult } from "../sessions/manifest.ts";

const EVENT_STREAM = "text/event-stream";

/** Between the comments that keep a connection alive. */
const PING_MS = 15_000;

/** Programs print in small pieces; a frame for each would be many times what they print. */
const COLLECT_MS = 10;

/** Whether a client asks for a stream of events. */
export function wantsEvents(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "";
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === EVENT_STREAM && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}

/** The output of an execution from its beginning and while it comes, then its result or what went wrong. */
export function executionEvents(
  execution: Execution,
  problemOf: (error: unknown) => ProblemError,
): Response {
  let leave = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (frame: string): void => controller.enqueue(Buffer.from(frame));
      let text = "";
      let due: NodeJS.Timeout | undefined;
      const flush = (): void => {
        clearTimeout(due);
        due = undefined;
        if (text !== "") send(event("output", { text }));
        text = "";
      };
      const unlisten = execution.output.listen((more) => {
        text += more;
        due ??= setTimeout(flush, COLLECT_MS);
      });
      const pings = setInterval(() => send(": ping\n\n"), PING_MS);
      let listening = true;
      leave = () => {
        listening = false;
        clearInterval(pings);
        clearTimeout(due);
        unlisten();
      };
      const end = (frame: string): void => {
        if (!listening) return;
        flush();
        leave();
        send(frame);
        controller.close();
      };
      execution.result.then(
        (result) => end(event("result", result)),
        (error: unknown) => end(event("error", problemOf(error))),
      );
    },
    cancel: () => leave(),
  });
  return stream(body);
}

/** A result that was recorded, as a stream. */
export function recordedEvents(result: ExecutionResult): Response {
  return stream(
    (result.output === "" ? "" : event("output", { text: result.output })) +
      event("result", result),
  );
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function stream(body: ReadableStream<Uint8Array> | string): Response {
  return new Response(body, {
    headers: {
      "content-type": EVENT_STREAM,
      "cache-control": "no-store",
      // Proxies that collect answers before they pass them on would make a stream useless.
      "x-accel-buffering": "no",
    },
  });
}
