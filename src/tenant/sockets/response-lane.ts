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

/** The id of a response that was sent, and whether it failed. */
export interface SentResponse {
  id: string | undefined;
  failed: boolean;
}

/** Sends what a request for a response was answered: each event of its stream, or its error. */
export async function sendResponse(
  socket: WebSocket,
  lane: string | undefined,
  response: Response,
): Promise<SentResponse> {
  const { body, status } = response;
  if (body === null || response.headers.get("content-type") !== "text/event-stream") {
    const { error } = await response.json<Pick<SocketError, "error">>();
    sendError(socket, lane, { status, error });
    return { id: undefined, failed: true };
  }
  let unread = "";
  let id: string | undefined;
  let failed = false;
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
      if (event.type === "response.created") id = event.response?.id;
      failed ||= event.type === "error" || event.type === "response.failed";
      sendEvent(socket, lane, event);
    }
  }
  return { id, failed };
}

interface ResponseEvent {
  type: string;
  response?: { id: string };
}
