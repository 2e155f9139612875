import { type MouseEvent, useState } from "react";
import type { Answer, ListedRequest } from "troupe/client";
import { ArgumentList } from "../answers/argument-list.tsx";
import { useWholeTask } from "../answers/use-whole-task.ts";
import { Dialog } from "../dialogs/dialog.tsx";
import { Name } from "../parts/name.tsx";
import { visibleName } from "../text/foreign.ts";
import { keyOf } from "./use-kept.ts";

interface AnswerTogetherProps {
  /** Open questions of the same agent about the same tool. */
  alike: readonly ListedRequest[];
  onAnswer: (requests: readonly ListedRequest[], answer: Answer) => void;
}

/** Answers approvals that are alike with one answer, after a look at all of them. */
export function AnswerTogether({ alike, onAnswer }: AnswerTogetherProps) {
  /** Those that the dialog shows: no later one is answered with them. */
  const [shown, setShown] = useState<readonly ListedRequest[]>();
  return (
    <>
      <button
        className="button quiet"
        type="button"
        aria-haspopup="dialog"
        onClick={() => setShown(alike)}
      >
        All {alike.length} alike
      </button>
      {shown && (
        <TogetherDialog
          requests={shown}
          open={new Set(alike.map((request) => keyOf(request)))}
          onAnswer={(requests, answer) => {
            setShown(undefined);
            onAnswer(requests, answer);
          }}
          onClose={() => setShown(undefined)}
        />
      )}
    </>
  );
}

interface TogetherDialogProps {
  requests: readonly ListedRequest[];
  /** The keys of the requests that are still open. */
  open: ReadonlySet<string>;
  onAnswer: AnswerTogetherProps["onAnswer"];
  onClose: () => void;
}

function TogetherDialog({ requests, open, onAnswer, onClose }: TogetherDialogProps) {
  const [left, setLeft] = useState<ReadonlySet<string>>(() => new Set());
  const [reason, setReason] = useState("");
  const chosen = requests.filter((request) => {
    const key = keyOf(request);
    return open.has(key) && !left.has(key);
  });
  const [first] = requests;
  const give = (answer: Answer) => (event: MouseEvent) => {
    // The second click of a double click on the button that opened the dialog.
    if (event.detail < 2) onAnswer(chosen, answer);
  };
  const toggle = (key: string): void =>
    setLeft((all) => {
      const next = new Set(all);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const given = reason.trim();
  return (
    <Dialog
      wide
      title={`${visibleName(first?.source ?? "")} wants to call ${visibleName(first?.tool_call?.name ?? "")}`}
      onClose={onClose}
    >
      <div className="stack">
        <ul className="together">
          {requests.map((request) => {
            const key = keyOf(request);
            return (
              <li key={key}>
                <label>
                  <input
                    type="checkbox"
                    checked={open.has(key) && !left.has(key)}
                    disabled={!open.has(key)}
                    onChange={() => toggle(key)}
                  />
                  <Name name={request.team_label ?? request.team_id} />
                  {!open.has(key) && <span className="muted">answered meanwhile</span>}
                </label>
                <Together request={request} />
              </li>
            );
          })}
        </ul>
        <label className="field">
          <span>Reason for a refusal, which the agents read (optional)</span>
          <input value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <div className="buttons">
          <button className="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            className="button danger"
            type="button"
            disabled={chosen.length === 0}
            onClick={give({ approved: false, ...(given !== "" && { reason: given }) })}
          >
            Refuse {chosen.length}
          </button>
          <button
            className="button primary"
            type="button"
            disabled={chosen.length === 0}
            onClick={give({ approved: true })}
          >
            Approve {chosen.length}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Together({ request }: { request: ListedRequest }) {
  const task = useWholeTask(request.task, request);
  return <ArgumentList value={request.tool_call?.arguments ?? {}} task={task} />;
}

/** The group of approvals that may be answered together: of the same agent, about the same tool. */
export function groupOf({ kind, source, tool_call: call }: ListedRequest): string | undefined {
  return kind === "approval" && call !== undefined
    ? JSON.stringify([source, call.name])
    : undefined;
}
