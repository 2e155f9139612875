import type { Approval, ApprovalRule } from "./approval-rule.ts";

/** The rule of an approval, if it has one. */
export function ruleOf(approval: Approval): ApprovalRule | undefined {
  return typeof approval === "object" ? approval : undefined;
}

/** The reaches that an answer may have besides its call. */
export function reachesOf(approval: Approval): readonly ("run" | "team")[] {
  const rule = ruleOf(approval);
  if (rule === undefined || rule.remember === "team") return ["run", "team"];
  return rule.remember === undefined ? [] : ["run"];
}
