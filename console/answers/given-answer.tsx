import {
  type AskedRequest,
  beginningOf,
  type HumanRequest,
  type ListedRequest,
} from "troupe/client";
import { Ago } from "../parts/time.tsx";
import { visibleCode, visibleName } from "../text/foreign.ts";
import { labelOf } from "./choices.ts";

interface GivenAnswerProps {
  request: HumanRequest | ListedRequest | AskedRequest;
  answer: { [field: string]: unknown };
  /** The name of the credential that answered; undefined for the user of this page. */
  by?: string | null | undefined;
  at?: string | null;
}

/** A longer value of an answer is cut. */
const LONGEST = 300;

/** An answer with the values that it changes, its author and its time. */
export function GivenAnswer({ request, answer, by, at = null }: GivenAnswerProps) {
  const { approved, reason } = answer;
  const changes = changesOf(request, answer);
  return (
    <>
      <strong>{wordOf(answer, changes.length > 0)}</strong>
      {approved === undefined && <AnswerText request={request} content={answer["content"]} />}
      {typeof reason === "string" && reason !== "" && <span>{visibleName(cut(reason))}</span>}
      {changes.length > 0 && (
        <ul className="answer-changes" aria-label="Changes">
          {changes.map(({ name, before, after }) => (
            <li key={name}>
              <span className="muted">{visibleName(name)}</span> <del>{before}</del>{" "}
              <span aria-label="became">→</span> <ins>{after}</ins>
            </li>
          ))}
        </ul>
      )}
      {(by ?? null) !== null || at !== null ? (
        <span className="muted">
          {(by ?? null) !== null && <>by {visibleName(by ?? "")} </>}
          {at !== null && <Ago time={at} />}
        </span>
      ) : null}
    </>
  );
}

interface AnswerTextProps {
  request: GivenAnswerProps["request"];
  content: unknown;
}

function AnswerText({ request: { form }, content }: AnswerTextProps) {
  const text = textOf(content);
  if (form === undefined) return <q dir="auto">{cut(visibleCode(text))}</q>;
  const fields = objectIn(text);
  if (fields === undefined) return null;
  return (
    <dl className="answer-fields">
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt className="muted">{visibleName(name)}</dt>
          <dd>{cut(visibleCode(labelOf(form.schema, name, value) ?? shown(value)))}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The word for an answer. */
export function wordOf(answer: { [field: string]: unknown }, changed = false): string {
  const { approved, content, is_error } = answer;
  if (approved === true) return changed ? "Approved with changes:" : "Approved.";
  if (approved === false) return answer["reason"] ? "Refused:" : "Refused.";
  const word = textOf(content).trim().toLowerCase();
  if (word === "decline") return "Declined.";
  if (word === "cancel") return "Cancelled.";
  if (word === "accept") return "Accepted.";
  return is_error === true ? "Failed:" : "Answered:";
}

interface Change {
  name: string;
  before: string;
  after: string;
}

/** The arguments that an approval replaces by other ones. */
function changesOf(
  { tool_call: call }: Pick<GivenAnswerProps["request"], "tool_call">,
  { arguments: given }: GivenAnswerProps["answer"],
): Change[] {
  if (call === undefined || typeof given !== "object" || given === null) return [];
  const before = call.arguments as { [name: string]: unknown };
  const after = given as { [name: string]: unknown };
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: shown(before[name]), after: shown(after[name]) }))
    .filter(({ before: old, after: now }) => old !== now)
    .map(({ name, before: old, after: now }) => ({ name, before: cut(old), after: cut(now) }));
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The text of an answer, which may be a chat message. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (typeof content === "object" && content !== null && "content" in content) {
    return typeof content.content === "string" ? content.content : JSON.stringify(content.content);
  }
  return content === undefined ? "" : JSON.stringify(content);
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return text.length > LONGEST ? `${beginningOf(text, LONGEST)}…` : text;
}
