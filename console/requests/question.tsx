import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { Answer, ListedRequest } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { useTask } from "../hooks/use-task.ts";
import { Markdown } from "../text/markdown.tsx";
import { promptOf } from "./prompt.ts";

interface QuestionProps {
  request: ListedRequest;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

/** A question to a human, with a field for the answer. */
export function Question({ request, onAnswer }: QuestionProps) {
  const [text, setText] = useState("");
  const task = useTask();
  const prompt = promptOf(request);
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
        waits for an answer
      </p>
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
