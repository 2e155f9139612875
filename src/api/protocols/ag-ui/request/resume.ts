import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { invalid, ProblemError } from "../../../http/endpoint/problem.ts";
import type { RequestAnswer } from "../../shared/conversation.ts";
import type { ResumeEntry, RunInput } from "../wire/input.ts";
import { type Added, textOf } from "./task.ts";
import { callOf } from "../wire/event-fields.ts";

/** The answers of a request to a run's open questions. */
export interface ResumeAnswers {
  answers: readonly RequestAnswer[];
  /** The client abandoned a question for input, without which the run cannot continue. */
  abandoned: boolean;
}

/**
 * The answers to a run's open questions. Entries about others are ignored, as the protocol asks for: they were answered
 * before.
 *
 * @throws ProblemError 422 for one of a wrong form, and when a question to a human is left out
 */
export function answersOf(
  run: RunInfo,
  { resume }: RunInput,
  { results }: Pick<Added, "results">,
): ResumeAnswers {
  const answers: RequestAnswer[] = [];
  let abandoned = false;
  for (const request of run.requests) {
    if (request.kind === "tool") {
      const result = results.find(
        ({ toolCallId }) => callOf(toolCallId) === request.tool_call?.call_id,
      );
      if (result === undefined) continue;
      const { error } = result;
      const failed = error !== undefined;
      const content = textOf(result);
      const answer = {
        content: content === "" && failed ? error : content,
        ...(failed && { is_error: true }),
      };
      answers.push({ request: request.id, answer });
      continue;
    }
    const index = resume.findIndex(({ interruptId }) => interruptId === request.id);
    const entry = resume[index];
    if (entry === undefined) continue;
    if (entry.status === "cancelled" && request.kind === "input") abandoned = true;
    else {
      const path = `resume[${index}].payload`;
      answers.push({ request: request.id, answer: answerOf(request, entry, path) });
    }
  }
  if (answers.length > 0 || abandoned) requireAll(run, resume);
  return { answers, abandoned };
}

/** @throws ProblemError 422 */
function requireAll({ requests }: RunInfo, resume: readonly ResumeEntry[]): void {
  const resumedIds = new Set(resume.map(({ interruptId }) => interruptId));
  const left = requests.filter(({ id, kind }) => kind !== "tool" && !resumedIds.has(id));
  if (left.length === 0) return;
  throw invalid(
    "invalid_request",
    "Questions of the run are left out.",
    left.map(({ id }) => ({
      path: "resume",
      message: `must have an entry for the interrupt ${id}, resolved or cancelled`,
    })),
  );
}

function answerOf({ kind }: HumanRequest, entry: ResumeEntry, path: string): JsonObject {
  if (entry.status === "cancelled")
    return { approved: false, reason: "The question was abandoned." };
  const { payload } = entry;
  if (kind === "input") {
    const content = isJsonObject(payload) && "content" in payload ? payload.content : payload;
    return { content: content ?? null } as JsonObject;
  }
  if (typeof payload === "boolean") return { approved: payload };
  if (!isJsonObject(payload) || typeof payload.approved !== "boolean") {
    throw invalid("invalid_answer", "The answer is invalid.", [
      { path, message: "must be { approved, reason?, editedArgs? } or a boolean" },
    ]);
  }
  const { approved, reason, editedArgs } = payload;
  return {
    approved,
    ...(typeof reason === "string" && { reason }),
    ...(isJsonObject(editedArgs) && { arguments: editedArgs }),
  };
}

/**
 * A frontend may add system messages to any request. They are dropped where the request continues a run.
 *
 * @throws ProblemError 409 where a request both answers questions and has a new message of the user
 */
export function requireNothingNew(said: Added["said"], run: RunInfo): void {
  if (!said.some(({ message }) => message.role === "user")) return;
  throw new ProblemError({
    status: 409,
    code: "team_busy",
    detail:
      "The run continues with the answers. Send the new messages when it has ended, in a request of their own.",
    extra: { run_id: run.id },
  });
}
