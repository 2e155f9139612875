import type { HumanRequest, ListedRequest } from "troupe/client";
import { visibleCode, visibleName } from "../text/foreign.ts";
import { approversOf, quorumOf, reasonsOf } from "./rule-words.ts";

/** The reasons of a rule to ask, those who approve, and those who have. */
export default function RuleFacts({ request }: { request: HumanRequest | ListedRequest }) {
  const { rule, matched = [], approvals = [], revision } = request;
  const reasons = reasonsOf(matched);
  const approvers = approversOf(rule);
  const quorum = quorumOf(rule);
  return (
    <ul className="rule-facts muted" aria-label="Rule">
      {reasons.map((reason) => (
        <li key={reason}>{visibleCode(reason)}</li>
      ))}
      {approvers !== undefined && <li>May approve: {visibleName(approvers)}.</li>}
      {quorum > 1 && (
        <li>
          <span role="status">
            Approved by {approvals.length} of {quorum}
            {approvals.length > 0 &&
              `: ${approvals.map(({ subject }) => visibleName(subject)).join(", ")}`}
            .
          </span>
        </li>
      )}
      {revision !== undefined && <li>The arguments were changed by an approver.</li>}
    </ul>
  );
}
