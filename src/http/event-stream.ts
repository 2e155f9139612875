/** The media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";

export const EVENT_STREAM_HEADERS = {
  "content-type": EVENT_STREAM,
  "cache-control": "no-store",
  // A proxy that buffers responses would make a stream useless.
  "x-accel-buffering": "no",
};

/** True if the client names the event stream among what it accepts (`*\/*` does not ask for one). */
export function acceptsEventStream(accept: string | null | undefined): boolean {
  return (accept ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === EVENT_STREAM && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}
