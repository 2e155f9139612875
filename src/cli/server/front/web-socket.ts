import {
  type IncomingMessage,
  request as openRequest,
  type RequestOptions,
  ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type Duplex, pipeline } from "node:stream";
import type { Socket } from "node:net";

/**
 * True for a request for a WebSocket. Programs ask for other protocols, too, and are served without: Java's client for HTTP/2, for
 * example.
 */
export function isForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** The answer to a request for an upgrade that gets none. Its connection ends with it. */
export function answerTo(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on("finish", () => socket.end());
  return response;
}

/**
 * Passes a request for a WebSocket on, and connects both sides.
 *
 * @param head the first bytes of the client after its request
 * @returns the answer where the Worker gives another one; undefined once both sides are connected @throws when the Worker cannot be
 *   reached
 */
export function connectSockets(
  options: RequestOptions,
  socket: Duplex,
  head: Buffer,
): Promise<IncomingMessage | undefined> {
  const upstream = openRequest({ ...options, agent: false, setDefaultHeaders: false });
  const answered = Promise.withResolvers<IncomingMessage | undefined>();
  upstream.on("response", answered.resolve);
  upstream.on("error", answered.reject);
  upstream.on("upgrade", (answer, worker, first) => {
    const { statusCode = 101, rawHeaders } = answer;
    const lines = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}\r\n`] : [],
    );
    socket.write(
      `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join("")}\r\n`,
      "latin1",
    );
    socket.write(first);
    worker.write(head);
    // When one side closes, close the other.
    pipeline(worker, socket, worker, () => undefined);
    answered.resolve(undefined);
  });
  socket.on("close", () => upstream.destroy());
  upstream.end();
  return answered.promise;
}
