import * as z from "zod";
import { ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Question, TurnContext } from "./turn-context.ts";

/** The keys by which component JSON has a human asked. */
export const humanApprovalSchema = z.object({
  /** Who is asked before it happens. */
  approval: z.literal("human").nullish(),
  /** Seconds after which it counts as refused. Without it the run waits for ever. */
  approval_timeout_seconds: z.number().positive().nullish(),
});

/** The key `approval` where a schema lets it pass, though nobody would be asked. */
export const noApprovalSchema = z
  .null({ error: "has no effect here: tools ask for approval, and code executor agents" })
  .optional();

/** That a human is asked, and how long. */
export interface HumanApproval {
  /** Seconds after which it counts as refused; null waits for ever. */
  timeoutSeconds: number | null;
}

/** What a human said about something that is about to happen. */
export interface Verdict {
  approved: boolean;
  /** Empty where there is none. */
  reason: string;
  /** In the place of a tool call's. */
  arguments: JsonObject | undefined;
}

/** @throws ValueError for a timeout that is none, or that nobody is asked within */
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

/** The keys of {@link humanApprovalSchema} that say the same; null where there is nothing to say. */
export function humanApprovalConfig(approval: HumanApproval | null) {
  return {
    approval: approval && ("human" as const),
    approval_timeout_seconds: approval && approval.timeoutSeconds,
  };
}

/**
 * Asks a human whether something may happen, before any step of it.
 *
 * @throws ValueError when the answer is one to another kind of question
 */
export async function askHuman(
  { timeoutSeconds }: HumanApproval,
  question: Pick<Question, "source" | "prompt" | "code" | "tool_call">,
  ctx: TurnContext,
): Promise<Verdict> {
  const answer = await ctx.ask({
    ...question,
    id: ctx.id(),
    kind: "approval",
    timeout_seconds: timeoutSeconds,
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
