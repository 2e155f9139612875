import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { useTask } from "../hooks/use-task.ts";
import { CodeBlock } from "../text/code-block.tsx";
import { Markdown } from "../text/markdown.tsx";
import { promptOf } from "./prompt.ts";

interface QuestionProps {
  request: HumanRequest | ListedRequest;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

/** A question to a human, or the call of a tool that a client has, with a field for the answer. */
export function Question({ request, onAnswer }: QuestionProps) {
  const [text, setText] = useState("");
  const task = useTask();
  const prompt = promptOf(request);
  const { tool_call: call } = request;
  const submit = (): void => {
    if (text.trim() !== "") void task.run(() => onAnswer({ content: text }));
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
        {call === undefined ? "waits for an answer" : "waits for the result of "}
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
        placeholder="Answer"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <Problem error={task.error} />
      <div className="buttons">
        <button
          className="button primary"
          disabled={text.trim() === "" || task.busy}
          aria-busy={task.busy}
        >
          Answer
        </button>
      </div>
    </form>
  );
}
