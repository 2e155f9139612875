import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Problem } from "../../../contract/problem.ts";
import { problemResponse } from "../../../api/http/endpoint/problem.ts";

export const MALFORMED: Problem = {
  status: 400,
  code: "malformed_request",
  detail: "The request is not valid HTTP/1.1.",
};

/** Problems of requests that Node could not read, by its error code. */
const UNREADABLE: Record<string, Problem | undefined> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "headers_too_large",
    detail: "The headers of the request are larger than 16 KB.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: "request_timeout",
    detail: "The request took too long to arrive.",
  },
};

export function sendProblem(response: ServerResponse, problem: Problem): Promise<void> {
  return sendResponse(response, problemResponse(problem));
}

export async function sendResponse(response: ServerResponse, answer: Response): Promise<void> {
  const body = await answer.text();
  // The client has disconnected.
  if (response.destroyed) return;
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

/**
 * Answers a request that Node could not read, and closes its connection.
 */
export async function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
): Promise<void> {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = UNREADABLE[error.code ?? ""] ?? MALFORMED;
  const { status } = problem;
  const answer = problemResponse(problem);
  const body = await answer.text();
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
