import { beginningOf } from "../../../../core/cut.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { ToolSchema } from "../../../../core/models/chat-completion-client.ts";
import { type Recipient } from "../../../http/input/task.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { TeamConversation } from "../../shared/conversation.ts";
import type { AnswerOptions } from "../encoder/answer-options.ts";
import { parseResponseId } from "../request/ids.ts";
import type { WantedForm } from "../request/answer-form.ts";
import { type InputEntry, sinceAnswer } from "../request/entry.ts";
import { refusedAt, type TroupeParameters } from "../request/parse.ts";
import { questionsOf } from "./answers.ts";
import { findModel, type NamedModel } from "./models.ts";
import type { Asker } from "../../../http/access/access-control.ts";
import { type OpenAIRequest, teamOf } from "./services.ts";
import { continuedTeam, makeTeam } from "./temporary-team.ts";

/** A request for a chat completion or a response. */
export interface Wanted extends Asker {
  model: string;
  entries: readonly InputEntry[];
  /** All that the request has, also what the team of its conversation has already. */
  history: readonly InputEntry[];
  /** The request's field with the entries. */
  field: "messages" | "input";
  tools: readonly ToolSchema[];
  metadata: JsonObject;
  troupe: TroupeParameters;
  form: WantedForm;
  instructions?: string;
  /** The response that the conversation continues after. */
  previous?: string;
  /** The id of a team that is made for it, where it is chosen. */
  makes?: string;
  /** True if the objects made for it are kept after its end. */
  kept: boolean;
  /** The team whose conversation it continues. */
  conversation?: string;
  format: "openai-chat" | "openai-response";
  options: Partial<AnswerOptions>;
}

/** The conversation that a request continues. */
export interface FoundConversation {
  named: NamedModel;
  /** The run that the request follows, or whose questions it answers. */
  run: RunInfo | undefined;
  /** The new entries of the request. */
  entries: readonly InputEntry[];
}

/** Finds the conversation that a request continues. @throws ProblemError */
export async function findConversation(
  request: OpenAIRequest,
  wanted: Wanted,
): Promise<FoundConversation> {
  const { previous, conversation, model } = wanted;
  const named = await findModel(request, model);
  if (previous !== undefined) {
    return { named, run: await previousRun(request, previous), entries: wanted.entries };
  }
  const team = conversation ?? (named.type === "team" ? named.team.id : undefined);
  if (conversation !== undefined && named.type === "team" && named.team.id !== conversation) {
    throw refusedAt("conversation", `must be the team of the model: ${named.team.id}`);
  }
  const entries = conversation === undefined ? sinceAnswer(wanted.entries) : wanted.entries;
  const [question] = questionsOf(entries);
  if (question !== undefined && (team === undefined || team === question.team)) {
    const run = unwrap(await teamOf(request, question.team).run(question.run));
    return { named, run, entries };
  }
  // A new team gets all of the conversation.
  if (team === undefined) return { named, run: undefined, entries: wanted.entries };
  const conversationWith = new TeamConversation(
    teamOf(request, team),
    request.services,
    request.principal,
  );
  const run = await conversationWith.lastRun(named.type === "team" ? named.team : undefined);
  return { named, run, entries };
}

async function previousRun(request: OpenAIRequest, id: string): Promise<RunInfo> {
  const address = parseResponseId(id);
  const found = address && (await teamOf(request, address.team).run(address.run));
  if (found?.ok) return found.value;
  if (found && found.problem.status !== 404) unwrap(found);
  throw new ProblemError({
    status: 404,
    code: "previous_response_not_found",
    detail: `There is no response ${JSON.stringify(beginningOf(id, 200))}.`,
    errors: [{ path: "previous_response_id", message: "must be the id of a response" }],
  });
}

/** The recipient of the new messages: the team of the conversation, or one that is still to be made. */
export function recipientOf(
  request: OpenAIRequest,
  { conversation }: Wanted,
  { named, run }: FoundConversation,
): Recipient {
  const team = conversation ?? run?.team_id ?? (named.type === "team" ? named.team.id : undefined);
  if (team !== undefined) return { team: teamOf(request, team) };
  return { component: () => Promise.resolve(componentOf(named)) };
}

export function componentOf(named: NamedModel): unknown {
  return named.type === "team" ? named.team.component : named.template.component;
}

/** The team that a new run of the conversation is started in. @throws ProblemError */
export async function teamFor(
  request: OpenAIRequest,
  { previous, conversation, kept, makes }: Wanted,
  { named, run }: FoundConversation,
): Promise<string> {
  if (previous !== undefined && run !== undefined) return continuedTeam(request, run);
  if (conversation !== undefined) return conversation;
  return named.type === "team" ? named.team.id : makeTeam(request, named.template, { kept, makes });
}
