import { withoutNulls } from "../component/component.ts";
import { type HumanApproval, humanApproval, humanApprovalConfig } from "../run/human-approval.ts";
import type { AnyTool } from "./tool.ts";
import { variantOf } from "./tool-variant.ts";

export interface ApprovalOptions {
  /** Seconds after which a call that nobody approved counts as refused. Default: the run waits for ever. */
  timeoutSeconds?: number;
}

/**
 * The same tool, but a human is asked before each call, who may change the arguments or refuse. In component JSON the
 * config of any tool may say so: `"approval": "human"`, and `approval_timeout_seconds`.
 *
 * @throws ValueError for a timeout that is none
 * @example
 * const assistant = new AssistantAgent({ name: "clerk", modelClient, tools: [search, withApproval(pay)] });
 */
export function withApproval(tool: AnyTool, { timeoutSeconds }: ApprovalOptions = {}): AnyTool {
  return askingFirst(tool, humanApproval("human", timeoutSeconds));
}

/** A tool under the approval that its config asks for. */
export function askingFirst(tool: AnyTool, approval: HumanApproval | null): AnyTool {
  if (approval === null) return tool;
  const keys = humanApprovalConfig(approval);
  return variantOf(tool, {
    approval,
    toConfig: () => withoutNulls({ ...tool.toConfig(), ...keys }),
  });
}
