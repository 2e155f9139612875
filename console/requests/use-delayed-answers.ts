import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Answer } from "troupe/client";
import { useNotices } from "../shell/notices.tsx";
import { DelayedAnswers, type DelayedAnswer } from "./delayed-answers.ts";

export interface AnswerQueue {
  delayed: ReadonlyMap<string, DelayedAnswer>;
  give: (key: string, answer: Answer, send: () => Promise<unknown>) => void;
  undo: (key: string) => void;
}

/** The answers of this page. They are sent after a delay, or at once when the page is left or hidden. */
export function useDelayedAnswers(): AnswerQueue {
  const [answers] = useState(() => new DelayedAnswers());
  const delayed = useSyncExternalStore(answers.subscribe, answers.read);
  const { attempt } = useNotices();
  const shown = useRef(true);
  useEffect(() => {
    const leave = (): void => answers.sendAll();
    const hide = (): void => {
      if (document.visibilityState === "hidden") leave();
    };
    shown.current = true;
    addEventListener("pagehide", leave);
    document.addEventListener("visibilitychange", hide);
    return () => {
      removeEventListener("pagehide", leave);
      document.removeEventListener("visibilitychange", hide);
      shown.current = false;
      leave();
    };
  }, [answers]);
  return {
    delayed,
    give: (key, answer, send) =>
      answers.give(key, answer, async () => {
        const sent = send();
        // The card that would show the error is gone.
        if (!shown.current) void attempt(() => sent);
        await sent;
      }),
    undo: (key) => answers.undo(key),
  };
}
