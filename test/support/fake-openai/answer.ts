import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChatRequest } from "./chat-request.ts";
import { completionBody, completionChunks, completionFor } from "./completion.ts";
import type { Fault, Rule } from "./rule.ts";

/** Where an answer goes, and how its progress is known. */
export interface AnswerTarget {
  response: ServerResponse;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  onChunks(count: number): void;
}

/** An error body like OpenAI's. */
export function errorBody(message: string, type: string, code: string | null): string {
  return JSON.stringify({ error: { message, type, param: null, code } });
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body);
}

/** Writes the answer to `request`, with the rule's faults. */
export async function answer(
  request: ChatRequest,
  rule: Rule | undefined,
  target: AnswerTarget,
): Promise<void> {
  const fault = rule?.fault;
  if (fault !== undefined && answerFault(fault, target.response)) return;
  await (request.stream === true
    ? answerStream(request, rule, target)
    : answerWhole(request, rule, target));
}

/** Faults that replace the whole answer. Returns false for those that happen inside one. */
function answerFault(fault: Fault, response: ServerResponse): boolean {
  switch (fault.kind) {
    case "status": {
      const { status, headers, code = null, message = `Fake error ${status}.` } = fault;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(fault.body ?? errorBody(message, "fake_error", code));
      return true;
    }
    case "html":
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end("<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>");
      return true;
    case "cut":
      if (fault.after_chunks > 0) return false;
      response.destroy();
      return true;
    default:
      return false;
  }
}

async function answerWhole(
  request: ChatRequest,
  rule: Rule | undefined,
  { response, signal, onChunks }: AnswerTarget,
): Promise<void> {
  const fault = rule?.fault?.kind;
  const body = completionBody(completionFor(request, rule));
  const text = JSON.stringify(fault === "no_choices" ? { ...body, choices: [] } : body);
  const headers = { "content-type": "application/json", "x-request-id": "req_fake" };
  const half = text.slice(0, text.length / 2);
  switch (fault) {
    case "cut":
      response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(text) });
      await flush(response, half);
      response.destroy();
      return;
    case "stall":
      response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(text) });
      await flush(response, half);
      await gone(signal);
      return;
    case "truncated":
      response.writeHead(200, headers);
      response.end(half);
      return;
    case "empty":
      response.writeHead(200, headers);
      response.end();
      return;
    default:
      response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(text) });
      response.end(text);
      onChunks(1);
  }
}

async function answerStream(
  request: ChatRequest,
  rule: Rule | undefined,
  { response, signal, onChunks }: AnswerTarget,
): Promise<void> {
  const fault = rule?.fault;
  const { pace_ms = 0, batch = 1 } = rule ?? {};
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-request-id": "req_fake",
  });
  response.flushHeaders();
  if (fault?.kind === "empty") {
    response.end();
    return;
  }
  const limit =
    fault !== undefined && "after_chunks" in fault ? fault.after_chunks : Number.POSITIVE_INFINITY;
  const includeUsage = request.stream_options?.include_usage === true;
  let pending = "";
  let sent = 0;
  for (const chunk of completionChunks(completionFor(request, rule), includeUsage)) {
    if (sent >= limit) break;
    if (signal.aborted) return;
    pending +=
      fault?.kind === "no_choices" ? chunk.replace(/"choices":\[.*\]/, '"choices":[]') : chunk;
    sent++;
    if (sent % batch !== 0) continue;
    const room = response.write(pending);
    pending = "";
    onChunks(sent);
    if (pace_ms > 0) await sleep(pace_ms, undefined, { signal });
    else if (!room) await once(response, "drain", { signal });
  }
  if (pending !== "") await flush(response, pending);
  onChunks(sent);
  await endStream(fault, response, signal);
}

async function endStream(
  fault: Fault | undefined,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  switch (fault?.kind) {
    case "cut":
      await flush(response, ": cut\n\n");
      response.destroy();
      return;
    case "stall":
      await gone(signal);
      return;
    case "truncated":
      response.end('data: {"id":"chatcmpl-fake","choices":[{"index":0,"del');
      return;
    case "unfinished":
      response.end();
      return;
    case "error_event":
      response.end(`data: ${errorBody(fault.message, "server_error", fault.code)}\n\n`);
      return;
    default:
      response.end("data: [DONE]\n\n");
  }
}

/** Writes and waits until the system has taken it, so that a cut comes after it and not instead of it. */
function flush(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => response.write(text, () => resolve()));
}

async function gone(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
