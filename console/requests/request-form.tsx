import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { Approval } from "./approval.tsx";
import { Question } from "./question.tsx";

interface RequestFormProps {
  request: HumanRequest | ListedRequest;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

/** An open question with its answer to fill in. */
export function RequestForm(props: RequestFormProps) {
  return props.request.kind === "approval" ? <Approval {...props} /> : <Question {...props} />;
}
