import * as z from "zod";
import { pageCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import { decisionPageSchema, storedApprovalPageSchema } from "../approval.ts";
import { command } from "./command.ts";

/** Decisions about calls that humans approve, and approvals that count for equal calls. */
export const approvalCommands = {
  decisions: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run/decisions",
    id: "listDecisions",
    summary:
      "What was decided about the run's calls that need approval: by which rule, and by whom",
    tag: "Runs",
    scope: "runs:read",
    object: "team",
    query: (limits) =>
      z.strictObject({ cursor: pageCursorParameter, limit: pageSizeParameter(limits) }),
    answers: { 200: { description: "A page.", schema: { DecisionPage: decisionPageSchema } } },
    problems: [404],
  }),

  approvals: command({
    method: "get",
    path: "/v1/teams/:team/approvals",
    id: "listApprovals",
    summary: "The stored approvals of the team: equal calls that need no human any more",
    tag: "Teams",
    scope: "teams:read",
    object: "team",
    query: (limits) =>
      z.strictObject({ cursor: pageCursorParameter, limit: pageSizeParameter(limits) }),
    answers: {
      200: { description: "A page.", schema: { StoredApprovalPage: storedApprovalPageSchema } },
    },
    problems: [404],
  }),

  deleteApproval: command({
    method: "delete",
    path: "/v1/teams/:team/approvals/:approval",
    summary: "Revoke a stored approval: the next equal call asks again",
    tag: "Teams",
    scope: "teams:write",
    object: "team",
    answers: { 204: { description: "It is revoked." } },
    problems: [404],
  }),
} as const;
