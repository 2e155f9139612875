import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Answer, HumanRequest } from "troupe/client";
import { Answerable } from "../requests/answerable.tsx";
import { DelayedAnswers } from "../requests/delayed-answers.ts";
import { answerKeyOf } from "../requests/use-kept.ts";
import { useCardKeys } from "../requests/use-card-keys.ts";
import { useSteady } from "../requests/use-steady.ts";

interface OpenRequestsProps {
  requests: readonly HumanRequest[];
  /** The whole task of the run. */
  task: string | undefined;
  onAnswer: (request: HumanRequest, answer: Answer) => Promise<void>;
  /** Gets what sends the answers that can still be undone. */
  onLeaving: (send: () => Promise<void>) => void;
}

/** The open questions of a run. An answer is sent after a few seconds in which it can be undone, or when the page is left. */
export function OpenRequests({ requests, task, onAnswer, onLeaving }: OpenRequestsProps) {
  const [answers] = useState(() => new DelayedAnswers());
  const delayed = useSyncExternalStore(answers.subscribe, answers.read);
  const steady = useSteady<HTMLDivElement>("list");
  useCardKeys(steady.ref);
  const sending = useRef(new Set<Promise<unknown>>());
  useEffect(() => {
    onLeaving(async () => {
      answers.sendAll();
      await Promise.allSettled(sending.current);
    });
  }, [answers, onLeaving]);
  const give = (request: HumanRequest, answer: Answer): void => {
    answers.give(answerKeyOf(request), answer, () => {
      const sent = onAnswer(request, answer);
      sending.current.add(sent);
      return sent.finally(() => sending.current.delete(sent));
    });
  };
  if (requests.length === 0) return null;
  return (
    <div className="dock-forms" {...steady}>
      {requests.map((request) => (
        <div key={answerKeyOf(request)} tabIndex={-1} className="dock-card" data-open>
          <Answerable
            request={request}
            task={task}
            open
            delayed={delayed.get(answerKeyOf(request))}
            onAnswer={(answer) => give(request, answer)}
            onUndo={() => answers.undo(answerKeyOf(request))}
          />
        </div>
      ))}
    </div>
  );
}
