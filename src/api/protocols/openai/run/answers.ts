import { beginningOf } from "../../../../core/cut.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { ProblemError } from "../../../http/endpoint/problem.ts";
import type { RequestAnswer } from "../../shared/conversation.ts";
import { parseRequestId, type RequestPlace } from "../request/ids.ts";
import { NOT_IN_RESULTS, resultText } from "../request/content.ts";
import { type InputEntry, messageOf } from "../request/entry.ts";
import { refusedAt, type TroupeParameters } from "../request/parse.ts";

/** The questions that a request's outputs and approvals answer. Ids that were made elsewhere name none. */
export function questionsOf(entries: readonly InputEntry[]): RequestPlace[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "output" && entry.type !== "approval") return [];
    const address = parseRequestId(entry.id);
    return address === undefined ? [] : [address];
  });
}

/**
 * The answers of a request to the questions of a run: outputs of tools, approvals, answers below `troupe`, and a message
 * as the answer to a question for input.
 *
 * @param field the request's field with the entries
 * @throws ProblemError 409 when the run waits for something else, 422
 */
export function answersTo(
  run: RunInfo,
  entries: readonly InputEntry[],
  { answers: given, on_conflict }: TroupeParameters,
  field: string,
): RequestAnswer[] {
  const answers: RequestAnswer[] = Object.entries(given).map(([request, answer]) => ({
    request,
    answer: answer as JsonObject,
  }));
  for (const entry of entries) {
    if (entry.type !== "output" && entry.type !== "approval") continue;
    const location = parseRequestId(entry.id);
    if (location?.run !== run.id) continue;
    const { request } = location;
    if (entry.type === "output") answers.push({ request, answer: { content: entry.content } });
    else {
      const { approved, reason } = entry;
      answers.push({ request, answer: { approved, ...(reason !== undefined && { reason }) } });
    }
  }
  const messages = entries.flatMap((entry) =>
    entry.type === "message" && !entry.answer ? [entry] : [],
  );
  if (messages.length === 0) return answers;
  // A request that queues or interrupts wants another run.
  if (answers.length === 0 && (on_conflict === "queue" || on_conflict === "interrupt")) return [];
  const open = run.requests.find(
    ({ id, kind }) => kind === "input" && !answers.some(({ request }) => request === id),
  );
  if (open !== undefined) {
    return [...answers, { request: open.id, answer: { content: inputOf(messages) } }];
  }
  return answers.length > 0 ? withMessages(answers, messages, field) : [];
}

/**
 * Adds the messages after outputs of tools to the last output: the run continues with its answers, and clients send as a message
 * what an output cannot contain, such as an image.
 *
 * @throws ProblemError 422
 */
function withMessages(
  answers: readonly RequestAnswer[],
  messages: readonly (InputEntry & { type: "message" })[],
  field: string,
): RequestAnswer[] {
  const last = answers.findLastIndex(({ answer }) => typeof answer["content"] === "string");
  const output = answers[last];
  const said = output?.answer["content"];
  if (output === undefined || typeof said !== "string") {
    throw refusedAt(
      field,
      "must not have a message beside the approvals: the run continues with them",
    );
  }
  const texts = messages.map(({ content }) => resultText(content));
  if (texts.includes(undefined))
    throw refusedAt(field, `beside outputs of tools ${NOT_IN_RESULTS}`);
  const content = [said, ...texts].join("\n\n");
  return answers.with(last, { ...output, answer: { ...output.answer, content } });
}

/**
 * Refuses outputs of calls that neither the response before it nor the request has.
 *
 * @throws ProblemError 422
 */
export function requireCalls(
  run: RunInfo,
  entries: readonly InputEntry[],
  { previous, field }: { previous?: string; field: string },
): void {
  const known = new Set(
    entries.flatMap((entry) => (entry.type === "calls" ? entry.calls.map(({ id }) => id) : [])),
  );
  for (const entry of entries) {
    if (entry.type !== "output" || known.has(entry.id)) continue;
    if (parseRequestId(entry.id)?.run === run.id) continue;
    const call = JSON.stringify(beginningOf(entry.id, 200));
    throw refusedAt(
      field,
      `must not have an output of the call ${call}, which the response ${previous} did not make`,
    );
  }
}

/** The content of an answer to a question for input. */
function inputOf(messages: (InputEntry & { type: "message" })[]): string | JsonObject {
  const texts = messages.flatMap(({ content }) => (typeof content === "string" ? [content] : []));
  if (texts.length === messages.length) return texts.join("\n\n");
  const content = messages.flatMap((message) => message.content);
  return messageOf({ type: "message", source: "user", content, answer: false });
}

/** A run that waits for something else than the request has. */
export function stillWaiting({ id, requests }: RunInfo): ProblemError {
  const what = requests.map(({ id: request, kind, source, tool_call }) =>
    tool_call === undefined
      ? `${kind} ${request} of ${source}`
      : `${kind} ${request} of ${source} (${tool_call.name})`,
  );
  return new ProblemError(
    {
      status: 409,
      code: "run_waiting",
      detail: `The run ${id} waits for: ${what.join(", ")}. Answer that, or give troupe.on_conflict.`,
    },
    { "x-should-retry": "false" },
  );
}
