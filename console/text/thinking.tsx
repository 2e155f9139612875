import { Fold } from "../parts/fold.tsx";
import { Markdown } from "./markdown.tsx";

const OPEN = "<think>";
const CLOSE = "</think>";

/** A text as a reasoning model writes it: what it thinks first is folded, also while it is being written. */
export function Thinking({ text, source }: { text: string; source: string }) {
  const { thought, answer } = withoutThought(text);
  return (
    <>
      {thought !== undefined && (
        <Fold icon="thought" title={answer === "" ? "Thinking" : "Thought"} source={source}>
          <Markdown text={thought} />
        </Fold>
      )}
      {answer !== "" && <Markdown text={answer} />}
    </>
  );
}

/** What is between the marks at the beginning, and what follows; a mark may be cut off where the text ends so far. */
function withoutThought(text: string): { thought: string | undefined; answer: string } {
  const start = text.trimStart();
  if (start !== "" && OPEN.startsWith(start)) return { thought: "", answer: "" };
  if (!start.startsWith(OPEN)) return { thought: undefined, answer: text };
  const end = start.indexOf(CLOSE);
  if (end >= 0) {
    return {
      thought: start.slice(OPEN.length, end),
      answer: start.slice(end + CLOSE.length).trimStart(),
    };
  }
  return { thought: withoutBeginning(start.slice(OPEN.length), CLOSE), answer: "" };
}

/** The text without a beginning of the mark at its end. */
function withoutBeginning(text: string, mark: string): string {
  for (let length = mark.length - 1; length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return text.slice(0, -length);
  }
  return text;
}
