import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { problemsOf } from "./problems.ts";
import { SchemaForm } from "./schema-form.tsx";

export interface AnswerFieldsProps {
  source: string;
  schema: object;
  initial: object;
  onGive: (content: string) => void;
  /** Buttons beside the one that answers. */
  children: ReactNode;
}

/** The form of a question. Its mistakes are shown after the first attempt to send it. */
export function AnswerFields({ source, schema, initial, onGive, children }: AnswerFieldsProps) {
  const [value, setValue] = useState(initial);
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problemsOf(value, schema).length === 0) {
      onGive(JSON.stringify(value));
      return;
    }
    setTried(true);
    requestAnimationFrame(() => {
      const wrong = form.current?.querySelector(".form-field:has(> .field-errors)");
      wrong?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    });
  };
  return (
    <form
      ref={form}
      className="stack answer-form"
      aria-label={`Answer ${source}`}
      noValidate
      onSubmit={submit}
    >
      <SchemaForm asking schema={schema} value={value} checked={tried} onChange={setValue} />
      <div className="buttons">
        {children}
        <button className="button primary">Answer</button>
      </div>
    </form>
  );
}
