import * as z from "zod";
import { ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Question, TurnContext } from "./turn-context.ts";

/** The keys of component JSON that require a human's approval. */
export const humanApprovalSchema = z.object({
  /** Asks a human before each call. */
  approval: z.literal("human").nullish(),
  /** Seconds after which the request counts as refused. Without it the run waits without a limit. */
  approval_timeout_seconds: z.number().positive().nullish(),
});

/** The key `approval` of components that cannot ask for one. */
export const noApprovalSchema = z
  .null({ error: "has no effect here: tools ask for approval, and code executor agents" })
  .optional();

/** A human has to approve. */
export interface HumanApproval {
  /** Seconds after which the request counts as refused; null waits without a limit. */
  timeoutSeconds: number | null;
}

/** A human's decision about a call. */
export interface Verdict {
  approved: boolean;
  /** Empty if none was given. */
  reason: string;
  /** Replaces the arguments of the tool call. */
  arguments: JsonObject | undefined;
}

/** @throws ValueError for an invalid timeout, or one without an approval */
export function humanApproval(
  approval: "human" | null | undefined,
  timeoutSeconds: number | null = null,
): HumanApproval | null {
  if (timeoutSeconds !== null && !(timeoutSeconds > 0)) {
    throw refused(`must be more than 0 seconds, not ${timeoutSeconds}`);
  }
  if (approval === "human") return { timeoutSeconds };
  if (timeoutSeconds !== null) throw refused('is only of use with approval "human"');
  return null;
}

/** The same as keys of {@link humanApprovalSchema}; null without an approval. */
export function humanApprovalConfig(approval: HumanApproval | null) {
  return {
    approval: approval && ("human" as const),
    approval_timeout_seconds: approval && approval.timeoutSeconds,
  };
}

/**
 * Asks a human for approval, before any step of the call.
 *
 * @throws ValueError when the answer belongs to another kind of question
 */
export async function askHuman(
  { timeoutSeconds }: HumanApproval,
  question: Pick<Question, "source" | "prompt" | "code" | "toolCall">,
  ctx: TurnContext,
): Promise<Verdict> {
  const answer = await ctx.ask({
    ...question,
    id: ctx.id(),
    kind: "approval",
    timeoutSeconds,
  });
  if (!("approved" in answer)) {
    throw new ValueError(`"${question.source}" asked for an approval and got an input`);
  }
  const { approved, reason = "", arguments: edited } = answer;
  return { approved, reason, arguments: edited };
}

function refused(message: string): ValueError {
  const path = "approval_timeout_seconds";
  return new ValueError(`${path} ${message}`, { issues: [{ path, message }] });
}
