import { type MouseEvent, useEffect, useRef } from "react";
import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { useNow } from "../hooks/use-now.ts";
import { Name } from "../parts/name.tsx";
import { Approval } from "./approval.tsx";
import type { DelayedAnswer } from "./delayed-answers.ts";
import { LoginRequest } from "./login-request.tsx";
import { Question } from "./question.tsx";

export interface AnswerableProps {
  request: HumanRequest | ListedRequest;
  /** False once it was answered, here or elsewhere, or is no longer needed. */
  open: boolean;
  /** The answer that the user gave on this page. */
  delayed: DelayedAnswer | undefined;
  onAnswer: (answer: Answer) => void;
  onUndo: () => void;
}

/** A question with its answer to fill in, or with the answer that was given, which can be undone until it is sent. */
export function Answerable({ request, open, delayed, onAnswer, onUndo }: AnswerableProps) {
  const answered = delayed !== undefined && delayed.phase !== "failed";
  const undo = useRef(onUndo);
  undo.current = onUndo;
  // A request that was answered elsewhere in the meantime is not answered again.
  useEffect(() => {
    if (!open) undo.current();
  }, [open]);
  const Form = request.kind === "approval" ? Approval : Question;
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
          {request.login === undefined ? (
            <Form {...form} />
          ) : (
            <LoginRequest {...form} login={request.login} />
          )}
        </div>
      )}
      {answered ? (
        <div className="given">
          <p role="status">
            <Asked request={request} /> <strong>{wordOf(delayed.answer)}</strong>
          </p>
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
            <span className="muted">{delayed.phase === "sent" ? "Sent." : "Sending"}</span>
          )}
        </div>
      ) : (
        !open && (
          <p role="status">
            <Asked request={request} />{" "}
            <strong>
              {request.login === undefined ? "Answered elsewhere" : "Logged in"}, or no longer
              needed.
            </strong>
          </p>
        )
      )}
    </>
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
    <>
      <Name name={source} />{" "}
      {tool_call
        ? kind === "tool"
          ? "is waiting for the result of "
          : "wants to call "
        : code
          ? "wants to run code."
          : login === undefined
            ? "asks a question."
            : "is waiting for a login."}
      {tool_call && (
        <>
          <code>
            <Name name={tool_call.name} />
          </code>
          .
        </>
      )}
    </>
  );
}

function wordOf({ approved }: Answer): string {
  if (approved === undefined) return "Answered.";
  return approved ? "Approved." : "Refused.";
}
