import { lazy, Suspense, useState } from "react";
import type { Answer, HumanRequest } from "troupe/client";
import { Boundary } from "../parts/boundary.tsx";
import { OutsideLink } from "../parts/outside-link.tsx";
import { visibleName } from "../text/foreign.ts";
import { askingFor, defaultsOf } from "./choices.ts";

const AnswerFields = lazy(async () => {
  const { AnswerFields: component } = await import("../forms/answer-fields.tsx");
  return { default: component };
});

interface AnswerFormProps {
  source: string;
  form: NonNullable<HumanRequest["form"]>;
  onAnswer: (answer: Answer) => void;
}

/** The answer to a question that asks for fields: a form, or buttons where it has few answers. */
export function AnswerForm({ source, form, onAnswer }: AnswerFormProps) {
  const { schema, url } = form;
  const [asked] = useState(() => askingFor(schema));
  const give = (content: string): void => onAnswer({ content });
  const refusals = <Refusals form={form} onGive={give} />;
  if (asked.by === "form") {
    return (
      <Boundary fallback={<RawAnswer onGive={give} />}>
        <Suspense
          fallback={
            <p className="loading" role="status">
              Loading
            </p>
          }
        >
          <AnswerFields source={source} schema={schema} initial={defaultsOf(schema)} onGive={give}>
            {refusals}
          </AnswerFields>
        </Suspense>
      </Boundary>
    );
  }
  if (asked.by === "confirmation") {
    return (
      <div className="buttons">
        {refusals}
        {url !== undefined && <OutsideLink url={url} label={`Open ${hostOf(url)}`} />}
        <button
          className={url === undefined ? "button primary" : "button"}
          type="button"
          aria-keyshortcuts="a"
          onClick={() => give("accept")}
        >
          {url === undefined ? "Accept" : "I am done there"}
        </button>
      </div>
    );
  }
  const { field, about, choices } = asked;
  return (
    <div className="stack" role="group" aria-label={`Answers for ${source}`}>
      {about !== undefined && <p className="muted">{visibleName(about)}</p>}
      <div className="buttons choices">
        {choices.map(({ value, label }) => (
          <button
            key={label}
            className="button"
            type="button"
            onClick={() => give(JSON.stringify({ [field]: value }))}
          >
            {visibleName(label)}
          </button>
        ))}
        {refusals}
      </div>
    </div>
  );
}

function Refusals({
  form,
  onGive,
}: {
  form: AnswerFormProps["form"];
  onGive: (content: string) => void;
}) {
  return (
    <>
      {form.cancel === true && (
        <button className="button quiet" type="button" onClick={() => onGive("cancel")}>
          Cancel the question
        </button>
      )}
      <button
        className="button"
        type="button"
        aria-keyshortcuts="r"
        onClick={() => onGive("decline")}
      >
        Decline
      </button>
    </>
  );
}

/** The answer as JSON, where a schema makes no form. */
function RawAnswer({ onGive }: { onGive: (content: string) => void }) {
  const [text, setText] = useState("{}");
  return (
    <div className="stack">
      <label className="field">
        <span>This question has no form. Answer as JSON.</span>
        <textarea
          className="code"
          rows={4}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button className="button" type="button" onClick={() => onGive(text)}>
        Send this JSON
      </button>
    </div>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? visibleName(new URL(url).host) : visibleName(url);
}
