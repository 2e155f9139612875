import { type ChangeObject, diffWordsWithSpace } from "diff";
import { useMemo } from "react";
import { LongText } from "../text/long-text.tsx";
import { visibleCode } from "../text/foreign.ts";

/** Longer texts, and texts that differ too much to compare in this time, are shown without marks. */
const LONGEST = 40_000;
const LONGEST_MS = 300;

interface TextDiffProps {
  /** The shown text. */
  text: string;
  /** The text on the other side. */
  other: string;
  side: "a" | "b";
}

/** A text in which the words that the other text lacks are marked. */
export function TextDiff({ text, other, side }: TextDiffProps) {
  const parts = useMemo(() => {
    if (text.length + other.length > LONGEST) return undefined;
    const [before, after] = side === "a" ? [text, other] : [other, text];
    const changes: ChangeObject<string>[] | undefined = diffWordsWithSpace(before, after, {
      timeout: LONGEST_MS,
    });
    return changes?.filter(({ added, removed }) => (side === "a" ? !added : !removed));
  }, [text, other, side]);
  if (parts === undefined) return <LongText text={text} />;
  return (
    <p className="compared" dir="auto">
      {parts.map(({ value, added, removed }, index) => {
        if (added) return <ins key={index}>{visibleCode(value)}</ins>;
        if (removed) return <del key={index}>{visibleCode(value)}</del>;
        return <span key={index}>{visibleCode(value)}</span>;
      })}
    </p>
  );
}
