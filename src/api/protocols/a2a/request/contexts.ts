import { beginningOf } from "../../../../core/cut.ts";
import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { Result } from "../../../../contract/result.ts";
import { sortedJson } from "../../../../core/json.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { callerOf } from "../../../http/access/access-control.ts";
import { reservedId } from "../../../http/input/team-input.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { A2AError } from "../wire/errors.ts";
import { conversationId, isConversationOf, type Parties, parseTaskId } from "../wire/ids.ts";
import type { SentMessage } from "./params.ts";
import type { A2ARequest } from "./services.ts";

/** The team of tasks: the agent's own, which all callers share, or a conversation that one caller has alone. */
export interface Context {
  /** The team's id. */
  id: string;
  /** The `contextId` of its tasks: the text with which the caller began it, or the team's id. */
  contextId: string;
  team: TeamGateway;
  /** The error where a conversation has been erased. */
  gone?: A2AError;
}

/** A task visible to the caller. */
export interface TaskAddress extends Context {
  run: string;
}

/** @throws A2AError where the conversation has been erased, or ProblemError */
export function unwrapIn<T>({ gone }: Context, result: Result<T>): T {
  if (gone && !result.ok && result.problem.code === "team_not_found") throw gone;
  return unwrap(result);
}

/** A context of the caller, by its `contextId`. Those of others are not found, like those that do not exist. */
export async function findContext(request: A2ARequest, id: string): Promise<Context | undefined> {
  return (
    (await findTeam(request, id)) ??
    (await findConversation(request, await namedConversation(await partiesOf(request), id)))
  );
}

/** A team whose tasks the caller sees, by its id. */
async function findTeam(request: A2ARequest, id: string): Promise<Context | undefined> {
  const { agent } = request;
  if (id === agent.id) return { ...agent, contextId: id };
  if (!(await isConversationOf(await partiesOf(request), id))) return undefined;
  return findConversation(request, id);
}

/** @param id the id of a conversation between the caller and the agent, if it exists */
async function findConversation(request: A2ARequest, id: string): Promise<Context | undefined> {
  const team = conversationOf(request, id);
  const begun = await team.conversationContext();
  if (!begun.ok && begun.problem.code === "team_not_found") return undefined;
  const contextId = unwrap(begun) ?? id;
  return { id, contextId, team, gone: erasedContext(contextId) };
}

/** @throws A2AError */
export async function findTask(request: A2ARequest, id: string): Promise<TaskAddress> {
  const gone = new A2AError(
    "TASK_NOT_FOUND",
    `There is no task ${JSON.stringify(beginningOf(id, 150))}.`,
  );
  const { context = request.agent.id, run } = parseTaskId(id) ?? {};
  if (run === undefined) throw gone;
  const found = await findTeam(request, context);
  if (found === undefined) throw gone;
  return { ...found, run, ...(found.gone && { gone }) };
}

/**
 * The context that a message without a task belongs to, which it may begin.
 *
 * @throws A2AError or ProblemError
 */
export async function contextOf(request: A2ARequest, message: SentMessage): Promise<Context> {
  const { contextId = "" } = message;
  const parties = await partiesOf(request);
  // The same message again finds its conversation.
  if (contextId === "") {
    return begin(request, parties, await conversationId(parties, sortedJson(message)));
  }
  return (
    (await findContext(request, contextId)) ??
    begin(request, parties, await namedConversation(parties, contextId), contextId)
  );
}

/** The id of the conversation that a caller begins with a `contextId` of its own. */
function namedConversation(parties: Parties, contextId: string): Promise<string> {
  return conversationId(parties, JSON.stringify(["context", contextId]));
}

/**
 * Begins a conversation of the caller alone, unless it exists.
 *
 * @param context the caller's own id of it
 */
async function begin(
  request: A2ARequest,
  { owner }: Parties,
  id: string,
  context?: string,
): Promise<Context> {
  const { services, principal, agent } = request;
  const model = unwrap(await agent.team.conversationModel());
  await reservedId(services.tenants, principal, id, undefined);
  const team = conversationOf(request, id);
  const expires_in = services.a2a.idleSeconds;
  const { name: caller, own_teams_of: user } = principal;
  unwrap(await team.createConversation({ id, owner, caller, context, user, expires_in }, model));
  return { id, contextId: context ?? id, team };
}

function conversationOf({ services, principal, signal }: A2ARequest, id: string): TeamGateway {
  return services.gateway.team(principal.tenant, id, callerOf(principal, { signal }));
}

export async function partiesOf({ principal, agent }: A2ARequest): Promise<Parties> {
  return { tenant: principal.tenant, agent: agent.id, owner: await sha256Hex(principal.id) };
}

function erasedContext(id: string): A2AError {
  return new A2AError(
    "INVALID_PARAMS",
    `The context ${JSON.stringify(beginningOf(id, 100))} was erased: the same message again begins another one.`,
  );
}
