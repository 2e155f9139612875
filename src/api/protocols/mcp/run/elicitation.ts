import type { ElicitRequestFormParams, JSONRPCRequest } from "@modelcontextprotocol/server";
import { ID } from "../../../../contract/constants.ts";
import type { Result } from "../../../../contract/result.ts";
import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { TeamConversation } from "../../shared/conversation.ts";
import { questionText } from "../../shared/question-text.ts";
import { type McpRequest, teamOf } from "../session/services.ts";

type Schema = ElicitRequestFormParams["requestedSchema"];

/** The form of a question. */
export interface Form {
  message: string;
  requestedSchema: Schema;
}

/** The fields of a question's form: a text, a yes or no with a reason, or the question's own. */
const FORM_KINDS = ["input", "approval", "fields"] as const;
export type FormKind = (typeof FORM_KINDS)[number];

export function formKindOf({ kind, form }: HumanRequest): FormKind {
  if (kind === "approval") return "approval";
  return form !== undefined && canBeShown(form.schema) ? "fields" : "input";
}

/** The kind that a client sends back; a text for any other word. */
export function parseFormKind(word: string | undefined): FormKind {
  return FORM_KINDS.find((kind) => kind === word) ?? "input";
}

const SIMPLE: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

/** Forms of the protocol have fields of simple types, and choices of several. */
function canBeShown({ properties = {} }: JsonObject): boolean {
  return (
    isJsonObject(properties) &&
    Object.values(properties).every(
      (field) =>
        isJsonObject(field) &&
        (SIMPLE.has(field.type) || (field.type === "array" && isJsonObject(field.items))),
    )
  );
}

export function formOf(request: HumanRequest): Form {
  const message = questionText(request);
  const { form } = request;
  switch (formKindOf(request)) {
    case "fields": {
      const { properties = {}, required } = form?.schema ?? {};
      const schema = { type: "object", properties, ...(required !== undefined && { required }) };
      return { message: form?.message ?? message, requestedSchema: schema as Schema };
    }
    case "input": {
      const properties = { content: { type: "string", title: "Answer" } } as const;
      return { message, requestedSchema: { type: "object", properties, required: ["content"] } };
    }
    case "approval": {
      const properties = {
        approved: { type: "boolean", title: "Approve" },
        reason: { type: "string", title: "Reason" },
      } as const;
      return { message, requestedSchema: { type: "object", properties, required: ["approved"] } };
    }
  }
}

/**
 * The answer to a question that a filled form gives; undefined where the human dismissed it, or declined to give a text:
 * the question stays open.
 */
export function answerOf(kind: FormKind, result: unknown): JsonObject | undefined {
  if (!isJsonObject(result)) return undefined;
  const { action, content } = result;
  const fields = isJsonObject(content) ? content : {};
  if (kind === "fields") {
    if (action === "accept") return { content: JSON.stringify(fields) };
    return action === "decline" ? { content: "decline" } : undefined;
  }
  if (kind === "input") {
    return action === "accept" && typeof fields.content === "string"
      ? { content: fields.content }
      : undefined;
  }
  if (action === "decline") return { approved: false };
  if (action !== "accept" || typeof fields.approved !== "boolean") return undefined;
  return {
    approved: fields.approved,
    ...(typeof fields.reason === "string" && fields.reason !== "" && { reason: fields.reason }),
  };
}

/** Gives an answer to a question of a run. @throws ProblemError when it is too large */
export async function giveAnswer(
  request: McpRequest,
  { team, run, question }: { team: string; run: string; question: string },
  answer: JsonObject,
): Promise<Result<RunInfo>> {
  const conversation = new TeamConversation(
    teamOf(request, team),
    request.services,
    request.principal,
  );
  return conversation.answer(run, [{ request: question, answer }]);
}

/** The first part of an elicitation's id. The other parts name the question, because an answer has only the id. */
const MARK = "troupe-question";

/** The request to a client of the revisions with sessions to show a form. */
export function elicitationRequest(
  team: string,
  run: string,
  question: HumanRequest,
): JSONRPCRequest {
  return {
    jsonrpc: "2.0",
    id: [MARK, team, run, formKindOf(question), question.id].join("/"),
    method: "elicitation/create",
    params: { ...formOf(question) },
  };
}

/** True for the answer to an {@link elicitationRequest}. */
export function isElicitationAnswer(message: unknown): message is { id: string; result?: unknown } {
  return (
    isJsonObject(message) &&
    message.method === undefined &&
    typeof message.id === "string" &&
    message.id.startsWith(`${MARK}/`)
  );
}

/**
 * Takes the answer to an elicitation, on whichever server it arrives. Answers to questions that do not exist, or are
 * answered, have no effect: the protocol has no response to them.
 */
export async function takeElicitationAnswer(
  request: McpRequest,
  { id, result }: { id: string; result?: unknown },
): Promise<void> {
  const [, team = "", run = "", kind, ...question] = id.split("/");
  if (!ID.test(team) || (request.only !== undefined && request.only.id !== team)) return;
  const answer = answerOf(parseFormKind(kind), result);
  if (answer === undefined) return;
  await giveAnswer(request, { team, run, question: question.join("/") }, answer);
}
