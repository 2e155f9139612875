import type {
  AgentContext,
  ElicitationSchema,
  PermissionOption,
  RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import type { Answer, HumanRequest } from "../../client/index.ts";

/** The ways of asking that an editor has besides texts and questions for permission. */
export interface QuestionAbilities {
  /** True if it shows forms (`elicitation.form`). */
  forms: boolean;
}

/** True if the editor asks the user during the prompt; other questions are texts, which the next prompt answers. */
export function isAskedAtOnce(
  { kind, login }: HumanRequest,
  { forms }: QuestionAbilities,
): boolean {
  return kind === "approval" || (forms && login === undefined);
}

/**
 * Asks the user of the editor.
 *
 * @returns undefined when the user has not answered, because the prompt was cancelled or the form was closed
 */
export function askUser(
  client: AgentContext,
  sessionId: string,
  request: HumanRequest,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  return request.kind === "approval"
    ? askPermission(client, sessionId, request, signal)
    : askForm(client, sessionId, request, signal);
}

const ALLOW: PermissionOption = { optionId: "allow", kind: "allow_once", name: "Allow" };
const REJECT: PermissionOption = { optionId: "reject", kind: "reject_once", name: "Reject" };

async function askPermission(
  client: AgentContext,
  sessionId: string,
  request: HumanRequest,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { allow = [], revision } = request;
  const options: PermissionOption[] = [
    ALLOW,
    ...allow.map((reach) => ({
      optionId: `allow:${reach}`,
      kind: "allow_always" as const,
      name: `Allow equal calls of the ${reach}`,
    })),
    REJECT,
  ];
  const { outcome } = await client.request(
    "session/request_permission",
    { sessionId, toolCall: toolCallOf(request), options },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (outcome.outcome !== "selected") return undefined;
  const shown = revision === undefined ? {} : { revision };
  if (outcome.optionId === REJECT.optionId) return { approved: false, ...shown };
  const reach = allow.find((one) => outcome.optionId === `allow:${one}`);
  return { approved: true, ...shown, ...(reach !== undefined && { allow: reach }) };
}

function toolCallOf({
  id,
  prompt,
  code,
  tool_call,
}: HumanRequest): RequestPermissionRequest["toolCall"] {
  const text = [prompt, ...(code === undefined ? [] : [code])].join("\n\n");
  return {
    toolCallId: tool_call?.call_id ?? id,
    title: tool_call?.name ?? "Run code",
    kind: tool_call === undefined ? "execute" : "other",
    status: "pending",
    content: [{ type: "content", content: { type: "text", text } }],
    ...(tool_call !== undefined && { rawInput: tool_call.arguments }),
  };
}

/** The form of a question that has none of its own. */
const TEXT_FORM: ElicitationSchema = {
  type: "object",
  properties: { answer: { type: "string", title: "Answer" } },
  required: ["answer"],
};

async function askForm(
  client: AgentContext,
  sessionId: string,
  { prompt, form }: HumanRequest,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const answer = await client.request(
    "elicitation/create",
    {
      mode: "form",
      sessionId,
      message: form?.message ?? prompt,
      requestedSchema: (form?.schema as ElicitationSchema | undefined) ?? TEXT_FORM,
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (answer.action === "decline") return form === undefined ? undefined : { content: "decline" };
  if (answer.action !== "accept") return undefined;
  const content = (answer as { content?: Record<string, unknown> | null }).content ?? {};
  if (form !== undefined) return { content: JSON.stringify(content) };
  const text = content["answer"];
  return typeof text === "string" ? { content: text } : undefined;
}
