import * as z from "zod";
import { withoutNulls } from "../component/component.ts";
import { type ApprovalRule, approvalSchema } from "../rules/approval-rule.ts";
import { type HumanApproval, humanApproval, humanApprovalConfig } from "../turn/human-approval.ts";
import type { AnyTool } from "./tool.ts";
import { toolSchema } from "./tools-schema.ts";
import { variantOf } from "./tool-variant.ts";
import { aNumber, checkArgument, checkOptions } from "../options/options.ts";

export interface ApprovalOptions {
  /** Seconds after which an unanswered call counts as refused. Default: the run waits without limit. */
  timeoutSeconds?: number | undefined;
  /** The calls for which a human is asked, and who approves them. Default: each call. */
  rule?: "once" | ApprovalRule | undefined;
}

const optionsSchema = z.object({
  timeoutSeconds: aNumber.optional(),
  rule: approvalSchema.optional(),
});

/**
 * The same tool with a human's approval before its calls, or before those of a rule; the human may edit the arguments or
 * refuse. In component JSON the config of any tool can have `approval` and `approval_timeout_seconds`.
 *
 * @throws ValueError for an invalid timeout
 * @example
 * const assistant = new AssistantAgent({ name: "clerk", modelClient, tools: [search, withApproval(pay)] });
 */
export function withApproval(tool: AnyTool, options: ApprovalOptions = {}): AnyTool {
  checkArgument(toolSchema, tool, "withApproval", "tool");
  const { timeoutSeconds, rule = "human" } = checkOptions(optionsSchema, options, "withApproval");
  return askingFirst(tool, humanApproval(rule, timeoutSeconds));
}

/** A tool with the approval that its config requests. */
export function askingFirst(tool: AnyTool, approval: HumanApproval | null): AnyTool {
  if (approval === null) return tool;
  const keys = humanApprovalConfig(approval);
  return variantOf(tool, {
    approval,
    toConfig: () => withoutNulls({ ...tool.toConfig(), ...keys }),
  });
}
