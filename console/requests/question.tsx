import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { AnswerForm } from "../answers/answer-form.tsx";
import { ArgumentList } from "../answers/argument-list.tsx";
import { wordOf } from "../answers/given-answer.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { promptOf } from "./prompt.ts";

interface QuestionProps {
  request: HumanRequest | ListedRequest;
  /** Why the server did not accept the last answer. */
  refused: Error | undefined;
  onAnswer: (answer: Answer) => void;
}

/** A question to a human, or the call of a tool that a client has, with fields for the answer. */
export function Question({ request, refused, onAnswer }: QuestionProps) {
  const { source, tool_call: call, form, default_answer: otherwise } = request;
  const prompt = form === undefined ? promptOf(request) : form.message;
  return (
    <div className="stack" role="group" aria-label={`Question of ${source}`}>
      <p>
        <strong>
          <Name name={source} />
        </strong>{" "}
        {call === undefined ? "is waiting for your answer" : "is waiting for the result of "}
        {call && (
          <code>
            <Name name={call.name} />
          </code>
        )}
      </p>
      {call && <ArgumentList value={call.arguments} />}
      {prompt !== "" && <Markdown text={prompt} />}
      {otherwise !== undefined && (
        <p className="muted">Without an answer in time: {defaultIn(otherwise)}</p>
      )}
      <Problem error={refused} />
      {form === undefined ? (
        <TextAnswer source={source} onAnswer={onAnswer} />
      ) : (
        <AnswerForm source={source} form={form} onAnswer={onAnswer} />
      )}
    </div>
  );
}

interface TextAnswerProps {
  source: string;
  onAnswer: (answer: Answer) => void;
}

function TextAnswer({ source, onAnswer }: TextAnswerProps) {
  const [text, setText] = useState("");
  const submit = (): void => {
    if (text.trim() !== "") onAnswer({ content: text });
  };
  return (
    <form
      className="text-answer"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        rows={2}
        aria-label={`Answer ${source}`}
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
      <button className="button primary" disabled={text.trim() === ""}>
        Answer
      </button>
    </form>
  );
}

function defaultIn(answer: { [field: string]: unknown }): string {
  const { content } = answer;
  const word = wordOf(answer);
  if (word !== "Answered:") return word;
  return typeof content === "string"
    ? `“${visibleName(content)}”`
    : visibleName(JSON.stringify(content));
}
