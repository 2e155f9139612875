/** The member of events that names a lane of a socket. */
const STREAM_ID = "stream_id";
const DATA = "data: ";

/** An error as a socket gets it: OpenAI's error object, and the status that a request would have got. */
export interface SocketError {
  status: number;
  error: { message: string; type: string; param: string | null; code: string };
}

export function socketError(
  status: number,
  code: string,
  message: string,
  param: string | null = null,
): SocketError {
  const type = status === 429 ? "rate_limit_error" : "invalid_request_error";
  return { status, error: { message, type, param, code } };
}

/** Sends events of one lane, which have its `stream_id`, if it has one. A socket that is closed gets none. */
export function sendEvent(socket: WebSocket, lane: string | undefined, event: object): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify(lane === undefined ? event : { ...event, [STREAM_ID]: lane }));
}

export function sendError(socket: WebSocket, lane: string | undefined, error: SocketError): void {
  sendEvent(socket, lane, { type: "error", ...error });
}

/** Sends what a request for a response was answered: each event of its stream, or its error. @param see gets each event before it is sent */
export async function sendResponse(
  socket: WebSocket,
  lane: string | undefined,
  response: Response,
  see: (event: ResponseEvent) => void,
): Promise<void> {
  const { body, status } = response;
  if (body === null || response.headers.get("content-type") !== "text/event-stream") {
    const { error } = await response.json<Pick<SocketError, "error">>();
    see({ type: "error" });
    sendError(socket, lane, { status, error });
    return;
  }
  let unread = "";
  const text = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
    new TextDecoderStream(),
  );
  for await (const piece of text) {
    const frames = (unread + piece).split("\n\n");
    unread = frames.pop() ?? "";
    for (const frame of frames) {
      const line = frame.split("\n").find((one) => one.startsWith(DATA));
      if (line === undefined) continue;
      const event = JSON.parse(line.slice(DATA.length)) as ResponseEvent;
      see(event);
      sendEvent(socket, lane, event);
    }
  }
}

export interface ResponseEvent {
  type: string;
  response?: { id: string; previous_response_id?: string | null };
}
