import type { Client, Progress } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../core/json.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { contextMembers, type OutgoingContext, stepHeaders } from "../../core/steps/hops.ts";
import { beginningOf } from "../../core/cut.ts";
import type { CallResult } from "./call-result.ts";
import { RequestError } from "../../outgoing/request-error.ts";
import { McpError, sentences } from "./answers/mcp-error.ts";
import { READERS } from "./reading-tools.ts";
import type { LegacyQuestions } from "./connection/legacy-questions.ts";
import type {
  AnsweredRound,
  QuestionRound,
  McpServerQuestion,
} from "./connection/server-question.ts";
import type { McpSession, SessionUse } from "./connection/session.ts";
import { type McpTool, policyOf } from "./tool-list.ts";

/** The key in `_meta` by which a server can recognize a repeated call. */
const IDEMPOTENCY_KEY = "troupe/idempotency-key";

/** Further progress is not shown. */
const MAX_PROGRESS = 1_000;
const MAX_PROGRESS_LENGTH = 1_000;

/** The outcome of a call: the server's answer, or questions that must be answered first. */
export type CallOutcome = { answer: CallResult } | QuestionRound;

export interface McpCall {
  tool: McpTool;
  args: JsonObject;
  /** Rounds of questions that the server has asked about this call. */
  rounds: readonly AnsweredRound[];
}

/**
 * Calls a tool. Yields the progress that the server reports, as lines.
 *
 * @param from how the call uses the session
 * @throws McpError, the signal's reason
 */
export async function* callTool(
  session: McpSession,
  questions: LegacyQuestions | undefined,
  call: McpCall,
  attempt: Pick<StepAttempt, "signal" | "idempotencyKey"> & OutgoingContext,
  from: SessionUse,
): AsyncGenerator<string, CallOutcome, void> {
  const lines = new Lines();
  const ended = new AbortController();
  const signal = AbortSignal.any([attempt.signal, ended.signal]);
  const asked: McpServerQuestion[] = [];
  const ask = (question: McpServerQuestion): void => {
    asked.push(question);
    ended.abort();
  };
  let sent = false;
  const request = (client: Client, timeout: number): Promise<unknown> => {
    sent = true;
    const read = READERS.get(call.tool);
    const leftOut = (method: string) => session.leftOut(method);
    if (read !== undefined) return read(client, call.args, { signal, timeout, leftOut });
    return client.callTool(paramsOf(call, attempt), {
      // Parameters that the server wants as headers; results are shown whether or not they fit their schema.
      toolDefinition: {
        name: call.tool.name,
        inputSchema: { ...call.tool.inputSchema, type: "object" },
      },
      signal,
      timeout,
      headers: stepHeaders(attempt),
      allowInputRequired: true,
      onprogress: (progress) => lines.add(lineOf(progress)),
    });
  };
  const use = { ...from, signal };
  const answer = session.use(use, (client, timeout) =>
    questions === undefined
      ? request(client, timeout)
      : questions.during(call.rounds, ask, () => request(client, timeout)),
  );
  try {
    yield* lines.until(answer);
    const result = (await answer) as CallResult & { resultType?: unknown };
    if (result.resultType === "input_required") return asRound(result as InputRequired);
    return { answer: result };
  } catch (error) {
    const [question] = asked;
    attempt.signal.throwIfAborted();
    if (question !== undefined) return { questions: { "0": question } };
    throw sent ? withOutcome(error, call.tool) : asUnsent(error);
  } finally {
    // The call ends when its reader stops.
    ended.abort();
  }
}

function paramsOf(
  { tool, args, rounds }: McpCall,
  { idempotencyKey, ...context }: Pick<StepAttempt, "idempotencyKey"> & OutgoingContext,
) {
  const last = rounds.at(-1);
  return {
    name: tool.name,
    arguments: args,
    _meta: { [IDEMPOTENCY_KEY]: idempotencyKey, ...context.trace, ...contextMembers(context) },
    ...(last && {
      inputResponses: last.answers,
      ...(last.state !== undefined && { requestState: last.state }),
    }),
  };
}

interface InputRequired {
  inputRequests?: { [id: string]: { method: string; params?: JsonObject } };
  requestState?: string;
}

function asRound({ inputRequests = {}, requestState }: InputRequired): QuestionRound {
  const questions = Object.fromEntries(
    Object.entries(inputRequests).map(([id, { method, params = {} }]) => [id, { method, params }]),
  );
  return { questions, ...(requestState !== undefined && { state: requestState }) };
}

/** The text for the model that the call may have taken effect. */
function withOutcome(error: unknown, tool: McpTool): unknown {
  if (!(error instanceof McpError) || !error.retryable || policyOf(tool) === "retry") return error;
  if (error.unsent) return error;
  const code = error.code as "mcp_connection" | "mcp_timeout";
  const effect = "The call may or may not have taken effect.";
  const { outage, retryAfterMs } = error;
  return new McpError(code, sentences(error.message, effect), { outage, retryAfterMs });
}

/** The error of a connection that was not made: whatever ended it, the server did not get the call. */
function asUnsent(error: unknown): unknown {
  if (!(error instanceof RequestError) || !error.retryable) return error;
  return Object.assign(error, { unsent: true });
}

function lineOf({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  const text = message === undefined ? "" : ` ${beginningOf(message, MAX_PROGRESS_LENGTH)}`;
  return `[${share}]${text}\n`;
}

/** Lines that are read while more are added. */
class Lines {
  #pending = "";
  #count = 0;
  #open = true;
  #notify: () => void = () => undefined;

  add(line: string): void {
    this.#count++;
    if (this.#count > MAX_PROGRESS) return;
    this.#pending += line;
    this.#notify();
  }

  /** Yields until `end` resolves or rejects. */
  async *until(end: Promise<unknown>): AsyncGenerator<string, void, void> {
    const close = (): void => {
      this.#open = false;
      this.#notify();
    };
    end.then(close, close);
    while (this.#open || this.#pending !== "") {
      if (this.#pending === "") {
        await new Promise<void>((resolve) => {
          this.#notify = resolve;
        });
      }
      const pending = this.#pending;
      this.#pending = "";
      if (pending !== "") yield pending;
    }
  }
}
