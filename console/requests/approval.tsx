import { type FormEvent, lazy, type ReactNode, Suspense, useState } from "react";
import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { ArgumentList } from "../answers/argument-list.tsx";
import { ArgumentsEditor } from "../answers/arguments-editor.tsx";
import type { Reach } from "../approvals/reach-choice.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { Markdown } from "../text/markdown.tsx";

const RuleFacts = lazy(() => import("../approvals/rule-facts.tsx"));
const ReachChoice = lazy(() => import("../approvals/reach-choice.tsx"));

interface ApprovalProps {
  request: HumanRequest | ListedRequest;
  /** The whole task of the run, if it is known. */
  task: string | undefined;
  /** Why the server did not accept the last answer. */
  refused: Error | undefined;
  together?: ReactNode;
  onAnswer: (answer: Answer) => void;
}

/** A tool call, whose arguments can be edited, or code that waits for approval. */
export function Approval({ request, task, refused, together, onAnswer }: ApprovalProps) {
  const { source, prompt, code, tool_call: call, rule, allow = [], revision } = request;
  const [refusing, setRefusing] = useState(false);
  const [edited, setEdited] = useState<string>();
  const [reach, setReach] = useState<Reach>();
  const [mistake, setMistake] = useState<Error>();
  const approve = (): void => {
    try {
      const changed = edited === undefined ? {} : { arguments: parsedArguments(edited) };
      setMistake(undefined);
      onAnswer({
        approved: true,
        ...changed,
        ...(reach && { allow: reach }),
        ...(revision !== undefined && { revision }),
      });
    } catch (error) {
      setMistake(error as Error);
    }
  };
  const compact = call !== undefined && edited === undefined && !refusing;
  return (
    <div
      className="approval"
      data-compact={compact}
      role="group"
      aria-label={`Approval for ${source}`}
    >
      <div className="approval-subject">
        <p>
          <strong>
            <Name name={source} />
          </strong>{" "}
          asks for your approval{call ? " to call " : code ? " to run code" : ""}
          {call && (
            <code>
              <Name name={call.name} />
            </code>
          )}
        </p>
        {call === undefined && prompt !== "" && code === undefined && <Markdown text={prompt} />}
        {code !== undefined && <Markdown text={code} />}
        {call !== undefined &&
          (edited === undefined ? (
            <ArgumentList value={call.arguments} task={task} />
          ) : (
            <ArgumentsEditor
              text={edited}
              parameters={call.parameters}
              before={call.arguments}
              onChange={setEdited}
            />
          ))}
        {rule !== undefined && (
          <Suspense>
            <RuleFacts request={request} />
          </Suspense>
        )}
        <Problem error={mistake ?? refused} />
      </div>
      {refusing ? (
        <RefusalForm onAnswer={onAnswer} onBack={() => setRefusing(false)} />
      ) : (
        <div className="buttons">
          {together}
          {allow.length > 0 && (
            <Suspense>
              <ReachChoice allow={allow} chosen={reach} onChange={setReach} />
            </Suspense>
          )}
          {call !== undefined && edited === undefined && (
            <button
              className="button quiet"
              type="button"
              aria-label="Edit arguments"
              aria-keyshortcuts="e"
              onClick={() => setEdited(JSON.stringify(call.arguments, null, 2))}
            >
              <Icon name="edit" />
              Edit
            </button>
          )}
          <button
            className="button"
            type="button"
            aria-keyshortcuts="r"
            onClick={() => setRefusing(true)}
          >
            Refuse
          </button>
          <button className="button primary" type="button" aria-keyshortcuts="a" onClick={approve}>
            Approve
          </button>
        </div>
      )}
    </div>
  );
}

interface RefusalProps {
  onAnswer: (answer: Answer) => void;
  onBack: () => void;
}

function RefusalForm({ onAnswer, onBack }: RefusalProps) {
  const [reason, setReason] = useState("");
  const refuse = (event: FormEvent): void => {
    event.preventDefault();
    const given = reason.trim();
    onAnswer({ approved: false, ...(given !== "" && { reason: given }) });
  };
  return (
    <form className="refusal" onSubmit={refuse}>
      <label className="field">
        <span>Reason for the agent (optional)</span>
        <input autoFocus value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
      <div className="buttons">
        <button className="button" type="button" onClick={onBack}>
          Back
        </button>
        <button className="button danger">Refuse</button>
      </div>
    </form>
  );
}

/** @throws Error when it is not a JSON object */
function parsedArguments(text: string): NonNullable<Answer["arguments"]> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as NonNullable<Answer["arguments"]>;
    }
  } catch (error) {
    throw new Error(`The arguments are not JSON: ${(error as Error).message}`, { cause: error });
  }
  throw new Error("The arguments must be a JSON object.");
}
