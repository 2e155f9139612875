import { type MouseEvent, type ReactNode, useEffect, useRef } from "react";
import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { GivenAnswer } from "../answers/given-answer.tsx";
import { useNow } from "../hooks/use-now.ts";
import { Name } from "../parts/name.tsx";
import { Approval } from "./approval.tsx";
import type { DelayedAnswer } from "./delayed-answers.ts";
import { LoginRequest } from "./login-request.tsx";
import { Question } from "./question.tsx";
import { useMay } from "../shell/access.tsx";
import { Markdown } from "../text/markdown.tsx";
import { ArgumentList } from "../answers/argument-list.tsx";
import { promptOf } from "./prompt.ts";

export interface AnswerableProps {
  request: HumanRequest | ListedRequest;
  /** The end of a question that was closed elsewhere. */
  outcome?: ReactNode;
  /** The whole task of the run, if it is known. */
  task: string | undefined;
  /** False once it was answered, here or elsewhere, or is no longer needed. */
  open: boolean;
  /** The answer that the user gave on this page. */
  delayed: DelayedAnswer | undefined;
  together?: ReactNode;
  onAnswer: (answer: Answer) => void;
  onUndo: () => void;
}

/** A question with its answer to fill in, or with the answer that was given, which can be undone until it is sent. */
export function Answerable(props: AnswerableProps) {
  const { request, outcome, task, open, delayed, together, onAnswer, onUndo } = props;
  const mayAnswer = useMay("requests:write");
  const answered = delayed !== undefined && delayed.phase !== "failed";
  const undo = useRef(onUndo);
  undo.current = onUndo;
  // A request that was answered elsewhere in the meantime is not answered again.
  useEffect(() => {
    if (!open) undo.current();
  }, [open]);
  const form = {
    request,
    refused: delayed?.phase === "failed" ? delayed.error : undefined,
    onAnswer,
  };
  return (
    <>
      {open && (
        // It keeps what was filled in while the answer can be undone.
        <div hidden={answered}>
          {!mayAnswer ? (
            <ReadOnly request={request} task={task} />
          ) : request.login !== undefined ? (
            <LoginRequest {...form} login={request.login} />
          ) : request.kind === "approval" ? (
            <Approval key={request.revision} {...form} task={task} together={together} />
          ) : (
            <Question {...form} />
          )}
        </div>
      )}
      {answered ? (
        <div className="given">
          <div className="given-answer" role="status">
            <Asked request={request} /> <GivenAnswer request={request} answer={delayed.answer} />
          </div>
          {delayed.phase === "delayed" ? (
            <>
              <Countdown to={delayed.sendsAt} />
              <button
                className="button small"
                type="button"
                aria-keyshortcuts="Control+Z"
                title="Undo (Ctrl+Z)"
                onClick={(event: MouseEvent) => {
                  // The second click of a double click on the button that gave the answer.
                  if (event.detail < 2) onUndo();
                }}
              >
                Undo
              </button>
            </>
          ) : (
            <span className="muted">{SENT[wordFor(delayed, open, request)]}</span>
          )}
        </div>
      ) : (
        !open && (
          <div className="given">
            <div className="given-answer" role="status">
              <Asked request={request} /> {outcome}
            </div>
          </div>
        )
      )}
    </>
  );
}

const SENT = {
  sending: "Sending",
  sent: "Sent.",
  counted: "Counted. Others have to approve as well.",
} as const;

function wordFor(
  { phase }: DelayedAnswer,
  open: boolean,
  { approvals }: AnswerableProps["request"],
): keyof typeof SENT {
  if (phase !== "sent") return "sending";
  return open && approvals !== undefined ? "counted" : "sent";
}

/** The question alone, for a credential that may not answer. */
function ReadOnly({ request, task }: Pick<AnswerableProps, "request" | "task">) {
  const { tool_call: call, code, form } = request;
  const text = code ?? form?.message ?? (call === undefined ? promptOf(request) : "");
  return (
    <div className="stack">
      <p>
        <Asked request={request} />
      </p>
      {call !== undefined && <ArgumentList value={call.arguments} task={task} />}
      {text !== "" && <Markdown text={text} />}
    </div>
  );
}

function Countdown({ to }: { to: number }) {
  const now = useNow(250);
  return (
    <span className="muted countdown">Sent in {Math.max(0, Math.ceil((to - now) / 1_000))} s</span>
  );
}

function Asked({
  request: { source, kind, tool_call, code, login },
}: {
  request: HumanRequest | ListedRequest;
}) {
  return (
    <span>
      <Name name={source} />{" "}
      {tool_call
        ? kind === "tool"
          ? "was waiting for the result of "
          : "wanted to call "
        : code
          ? "wanted to run code."
          : login === undefined
            ? "asked a question."
            : "was waiting for a login."}
      {tool_call && (
        <>
          <code>
            <Name name={tool_call.name} />
          </code>
          .
        </>
      )}
    </span>
  );
}
