import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChatRequest } from "./chat-request.ts";
import type { AnswerFormat } from "./answer-format.ts";
import { completionFor } from "./completion.ts";
import type { CacheUse } from "./prompt-cache.ts";
import type { Fault, Rule } from "./rule.ts";

/** Where an answer goes, and how its progress is known. */
export interface AnswerTarget {
  response: ServerResponse;
  format: AnswerFormat;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  onChunks(count: number): void;
  /** Waits where the rule holds. */
  pass(count: number): Promise<void>;
  /** What the server's cache had of the prompt. */
  cache?: CacheUse | undefined;
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
  if (fault !== undefined && answerFault(fault, target)) return;
  await (request.stream === true
    ? answerStream(request, rule, target)
    : answerWhole(request, rule, target));
}

/** Faults that replace the whole answer. Returns false for those that happen inside one. */
function answerFault(fault: Fault, { response, format }: AnswerTarget): boolean {
  switch (fault.kind) {
    case "status": {
      const { status, headers, code = null, message = `Fake error ${status}.` } = fault;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(fault.body ?? format.error(message, "fake_error", code));
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
  { response, format, signal, onChunks, cache }: AnswerTarget,
): Promise<void> {
  const fault = rule?.fault?.kind;
  const text = JSON.stringify(
    format.whole(completionFor(request, rule, cache), fault === "no_choices", request),
  );
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
  { response, format, signal, onChunks, pass, cache }: AnswerTarget,
): Promise<void> {
  const fault = rule?.fault;
  const { pace_ms = 0, batch = 1 } = rule ?? {};
  response.writeHead(200, {
    "content-type": format.streamType,
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
  let pending = "";
  let sent = 0;
  const completion = completionFor(request, rule, cache);
  const chunks = format.chunks(completion, request, fault?.kind === "no_choices");
  for (const chunk of fault?.kind === "truncated" ? [...chunks].slice(0, -1) : chunks) {
    if (sent >= limit) break;
    if (signal.aborted) return;
    pending += chunk;
    sent++;
    if (sent % batch !== 0) continue;
    const room = response.write(pending);
    pending = "";
    onChunks(sent);
    await pass(sent);
    if (pace_ms > 0) await sleep(pace_ms, undefined, { signal });
    else if (!room) await once(response, "drain", { signal });
  }
  if (pending !== "") await flush(response, pending);
  onChunks(sent);
  await endStream(fault, { response, format, signal });
}

async function endStream(
  fault: Fault | undefined,
  { response, format, signal }: Pick<AnswerTarget, "response" | "format" | "signal">,
): Promise<void> {
  switch (fault?.kind) {
    case "cut":
      await flush(response, format.filler);
      response.destroy();
      return;
    case "stall":
      await gone(signal);
      return;
    case "truncated":
      response.end(format.half);
      return;
    case "unfinished":
      response.end();
      return;
    case "error_event":
      response.end(format.errorEvent(fault.message, fault.code));
      return;
    default:
      response.end(format.end);
  }
}

/** Writes and waits until the system has taken it, so that a cut comes after it and not instead of it. */
function flush(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => response.write(text, () => resolve()));
}

async function gone(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
