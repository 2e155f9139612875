import { withoutNulls } from "../component/component.ts";
import { type HumanApproval, humanApproval, humanApprovalConfig } from "../run/human-approval.ts";
import type { AnyTool } from "./tool.ts";
import { variantOf } from "./tool-variant.ts";

export interface ApprovalOptions {
  /** Seconds after which an unanswered call counts as refused. Default: the run waits without limit. */
  timeoutSeconds?: number;
}

/**
 * The same tool with a human's approval before each call; the human may edit the arguments or refuse. In component JSON
 * the config of any tool can have `"approval": "human"` and `approval_timeout_seconds`.
 *
 * @throws ValueError for an invalid timeout
 * @example
 * const assistant = new AssistantAgent({ name: "clerk", modelClient, tools: [search, withApproval(pay)] });
 */
export function withApproval(tool: AnyTool, { timeoutSeconds }: ApprovalOptions = {}): AnyTool {
  return askingFirst(tool, humanApproval("human", timeoutSeconds));
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
