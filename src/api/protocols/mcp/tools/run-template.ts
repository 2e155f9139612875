import type * as z from "zod";
import type { Template } from "../../../../core/component/template.ts";
import { toBase64Url } from "../../../../core/base64.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { authorOf } from "../../../auth/principal.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { preparedRunnable } from "../../../http/input/component.ts";
import { makeTemplateCollection } from "../../../http/input/template-collection.ts";
import { reservedId } from "../../../http/input/team-input.ts";
import { activeRunOf } from "../run/active-runs.ts";
import { clientKeyOf, CONVERSATION_OF_RUN } from "../run/idempotency.ts";
import { teamOfState } from "../run/request-state.ts";
import { keyOfCall, runTeam } from "../run/run-team.ts";
import type { McpToolCall } from "../run/wait-for-run.ts";
import type { McpToolResult } from "../run/output.ts";
import { conversationOf } from "../session/own-conversations.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import type { ToolInputs } from "../run/tool-inputs.ts";

/** Seconds without a run after which a conversation with a template is erased: 30 days. */
const IDLE_SECONDS = 30 * 86_400;

/**
 * Gives a task to a team that the caller alone has of a template. The team is of the caller's tenant and made with the first
 * task of the conversation.
 *
 * @throws ProblemError or ProtocolError
 */
export async function runTemplate(
  call: McpToolCall,
  template: Template,
  { conversation: named, ...given }: z.output<ToolInputs["template"]>,
): Promise<McpToolResult> {
  const { request, ctx } = call;
  const state = ctx.mcpReq.requestState();
  const continued = typeof state === "string" ? teamOfState(state) : undefined;
  if (continued !== undefined) return runTeam(call, continued, given);
  const conversation =
    named ?? (await nameIn(request, clientKeyOf(request, ctx.mcpReq._meta))) ?? newName();
  const about = { [CONVERSATION_OF_RUN]: conversation };
  if (named === undefined && isUnrelated(call)) {
    const key = await keyOfCall(request, { ...given, template: template.name });
    const same = await activeRunOf(request, key);
    if (same !== undefined) {
      const { [CONVERSATION_OF_RUN]: known = conversation } = same.metadata;
      return runTeam(call, same.team_id, given, {
        key,
        metadata: { [CONVERSATION_OF_RUN]: known },
      });
    }
    const id = await conversationOf(request.principal, template.name, conversation);
    await makeConversation(request, template, id);
    return runTeam(call, id, given, { key, metadata: about });
  }
  const id = await conversationOf(request.principal, template.name, conversation);
  if (!(await teamOf(request, id).creation()).ok) await makeConversation(request, template, id);
  return runTeam(call, id, given, { metadata: about });
}

/** True for a call of which nothing says to which session or request it belongs. */
function isUnrelated({ request, ctx }: McpToolCall): boolean {
  return request.session === undefined && clientKeyOf(request, ctx.mcpReq._meta) === undefined;
}

/** The name of the conversation of a session, or of a call that is made again with its key. */
async function nameIn(
  { session }: McpRequest,
  key: string | undefined,
): Promise<string | undefined> {
  if (session !== undefined) return `session-${(await sha256Hex(session.id)).slice(0, 32)}`;
  return key === undefined ? undefined : `call-${(await sha256Hex(key)).slice(0, 32)}`;
}

function newName(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Makes the team of a conversation. The same again finds it. @throws ProblemError */
async function makeConversation(
  { services, principal }: McpRequest,
  { name, component: shown, collection }: Template,
  id: string,
): Promise<void> {
  const { tenant, own_teams_of, user } = principal;
  const { component } = await preparedRunnable({ ...shown }, services, { tenant });
  await reservedId(services.tenants, principal, id, undefined);
  if (collection) await makeTemplateCollection(collection, tenant, services);
  const made = await teamOf({ services, principal }, id).create({
    id,
    label: name,
    metadata: { mcp: { template: name } },
    component,
    by: authorOf(principal),
    user: own_teams_of ?? user ?? undefined,
    expires_in: IDLE_SECONDS,
    // Whoever knows the id is its caller, so the same id asks for the same conversation.
    idempotency: { key: `conversation ${id}`, hash: "" },
  });
  unwrap(made);
}
