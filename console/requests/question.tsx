import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { CodeBlock } from "../text/code-block.tsx";
import { Markdown } from "../text/markdown.tsx";
import { promptOf } from "./prompt.ts";

interface QuestionProps {
  request: HumanRequest | ListedRequest;
  /** Why the server did not accept the last answer. */
  refused: Error | undefined;
  onAnswer: (answer: Answer) => void;
}

/** A question to a human, or the call of a tool that a client has, with a field for the answer. */
export function Question({ request, refused, onAnswer }: QuestionProps) {
  const [text, setText] = useState("");
  const prompt = promptOf(request);
  const { tool_call: call } = request;
  const submit = (): void => {
    if (text.trim() !== "") onAnswer({ content: text });
  };
  return (
    <form
      className="stack"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        submit();
      }}
    >
      <p>
        <strong>
          <Name name={request.source} />
        </strong>{" "}
        {call === undefined ? "is waiting for your answer" : "is waiting for the result of "}
        {call && (
          <code>
            <Name name={call.name} />
          </code>
        )}
      </p>
      {call && <CodeBlock code={JSON.stringify(call.arguments, null, 2)} language="json" />}
      {prompt !== "" && <Markdown text={prompt} />}
      <textarea
        rows={2}
        aria-label={`Answer ${request.source}`}
        aria-keyshortcuts="a"
        placeholder="Answer"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <Problem error={refused} />
      <div className="buttons">
        <button className="button primary" disabled={text.trim() === ""}>
          Answer
        </button>
      </div>
    </form>
  );
}
