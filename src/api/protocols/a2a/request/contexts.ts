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
  id: string;
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

/** A context of the caller. Those of others are not found, like those that do not exist. */
export async function findContext(request: A2ARequest, id: string): Promise<Context | undefined> {
  const { agent } = request;
  if (id === agent.id) return agent;
  if (!(await isConversationOf(await partiesOf(request), id))) return undefined;
  return {
    id,
    team: conversationOf(request, id),
    gone: unknownContext(id),
  };
}

/** @throws A2AError */
export async function findTask(request: A2ARequest, id: string): Promise<TaskAddress> {
  const gone = new A2AError(
    "TASK_NOT_FOUND",
    `There is no task ${JSON.stringify(beginningOf(id, 150))}.`,
  );
  const { context = request.agent.id, run } = parseTaskId(id) ?? {};
  if (run === undefined) throw gone;
  const found = await findContext(request, context);
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
  if (contextId === "") return newConversation(request, message);
  const found = await findContext(request, contextId);
  if (found === undefined) throw unknownContext(contextId);
  return found;
}

/** A conversation of the caller alone. The same message again finds it. */
async function newConversation(request: A2ARequest, message: SentMessage): Promise<Context> {
  const { services, principal, agent } = request;
  const parties = await partiesOf(request);
  const id = await conversationId(parties, sortedJson(message));
  const model = unwrap(await agent.team.conversationModel());
  await reservedId(services.tenants, principal, id, undefined);
  const team = conversationOf(request, id);
  const { owner } = parties;
  const expires_in = services.a2a.idleSeconds;
  const { name: caller, own_teams_of: user } = principal;
  unwrap(await team.createConversation({ id, owner, caller, user, expires_in }, model));
  return { id, team };
}

function conversationOf({ services, principal, signal }: A2ARequest, id: string): TeamGateway {
  return services.gateway.team(principal.tenant, id, callerOf(principal, { signal }));
}

export async function partiesOf({ principal, agent }: A2ARequest): Promise<Parties> {
  return { tenant: principal.tenant, agent: agent.id, owner: await sha256Hex(principal.id) };
}

function unknownContext(id: string): A2AError {
  return new A2AError(
    "INVALID_PARAMS",
    `There is no context ${JSON.stringify(beginningOf(id, 100))}: a message without contextId begins one.`,
  );
}
