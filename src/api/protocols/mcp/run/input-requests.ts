import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import type { RequestAnswer } from "../../shared/conversation.ts";
import { answerOf, formKindOf, formOf, parseFormKind } from "./elicitation.ts";

/** Questions as forms that the client shows before it comes back, in the revision without sessions. */
export function inputRequestsOf(
  questions: readonly HumanRequest[],
): NonNullable<InputRequiredResult["inputRequests"]> {
  return Object.fromEntries(
    questions.map((question) => [
      `${formKindOf(question)}:${question.id}`,
      { method: "elicitation/create", params: { mode: "form", ...formOf(question) } },
    ]),
  );
}

/** The human's responses to the forms. */
export interface Responses {
  answers: RequestAnswer[];
  /** The questions whose forms were dismissed. */
  dismissed: Set<string>;
}

/** Reads the responses to {@link inputRequestsOf}. Those to anything that the run does not ask have no effect. */
export function readResponses(
  { requests }: Pick<RunInfo, "requests">,
  given: Readonly<Record<string, unknown>>,
): Responses {
  const open = new Set(requests.map(({ id }) => id));
  const answers: RequestAnswer[] = [];
  const dismissed = new Set<string>();
  for (const [key, response] of Object.entries(given)) {
    const [kind, question = ""] = split(key);
    if (!open.has(question)) continue;
    const answer = answerOf(parseFormKind(kind), response);
    if (answer === undefined) dismissed.add(question);
    // The run's result says so if another person has answered the question, or the run has ended.
    else answers.push({ request: question, answer, if_open: true });
  }
  return { answers, dismissed };
}

function split(key: string): [kind: string, question?: string] {
  const colon = key.indexOf(":");
  return colon === -1 ? [key] : [key.slice(0, colon), key.slice(colon + 1)];
}
