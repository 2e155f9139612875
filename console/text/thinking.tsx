import { useEffect, useRef, useState } from "react";
import { Fold } from "../parts/fold.tsx";
import { durationOf } from "../parts/numbers.ts";
import { Markdown } from "./markdown.tsx";
import { thoughtIn } from "./thought.ts";

interface ThinkingProps {
  text: string;
  source?: string | undefined;
}

/** The complete text of a reasoning model, with its reasoning folded. */
export function Thinking({ text, source }: ThinkingProps) {
  const { thought, answer } = thoughtIn(text);
  return (
    <>
      {thought !== undefined && <Thought text={thought} source={source} />}
      {answer !== "" && <Markdown text={answer} />}
    </>
  );
}

interface ThoughtProps {
  text: string;
  source?: string | undefined;
  /** True while it is being written: it is unfolded then, and folds itself at its end. */
  streaming?: boolean;
  /** For how long it was written, in milliseconds. */
  ms?: number | null | undefined;
}

/** The reasoning of a model, in a block of its own. */
export function Thought({ text, source, streaming = false, ms = null }: ThoughtProps) {
  const measured = useMeasured(streaming);
  const lasted = ms ?? measured;
  return (
    <Fold
      icon="thought"
      title={
        <>
          {streaming ? "Thinking" : "Thought"}
          {!streaming && lasted !== null && (
            <span className="muted">
              {" "}
              for {durationOf(Math.max(1, Math.round(lasted / 1_000)) * 1_000)}
            </span>
          )}
        </>
      }
      source={source}
      open={streaming}
    >
      <div className="thought" data-streaming={streaming}>
        <Markdown text={text} growing={streaming} />
      </div>
    </Fold>
  );
}

/** For how long something was true on this page, in milliseconds; null while it is, and if it never was. */
function useMeasured(is: boolean): number | null {
  const since = useRef<number>(undefined);
  const [measured, setMeasured] = useState<number | null>(null);
  useEffect(() => {
    if (is) since.current = performance.now();
    else if (since.current !== undefined) setMeasured(performance.now() - since.current);
  }, [is]);
  return measured;
}
