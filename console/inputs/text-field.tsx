import { useId } from "react";
import { MistakesAt, useMistakes } from "./mistakes.tsx";
import type { ValuePath } from "../component/value-path.ts";
import { at } from "./wanted.ts";

interface TextFieldProps {
  path: ValuePath;
  label: string;
  value: string;
  /** Shown while it is empty. */
  placeholder?: string;
  /** A field of several lines. */
  long?: boolean;
  /** The fewest lines of a field of several lines. */
  rows?: number;
  /** A sentence below it. */
  about?: string;
  /** Texts to choose from. Others are as good. */
  choices?: readonly string[];
  /** A text beside a choice. */
  choiceText?: (choice: string) => string | undefined;
  onChange: (text: string) => void;
}

/** A text of a component, with its mistakes. */
export function TextField(props: TextFieldProps) {
  const {
    path,
    label,
    value,
    placeholder,
    rows = 2,
    about,
    choices = [],
    choiceText,
    onChange,
  } = props;
  const long = props.long === true || props.rows !== undefined;
  const id = useId();
  const wrong = useMistakes(path).length > 0;
  const common = {
    value,
    placeholder,
    spellCheck: long,
    "aria-invalid": wrong,
    "aria-describedby": wrong ? id : undefined,
  };
  return (
    <div className="editor-field" {...at(path)}>
      <label className="field">
        <span>{label}</span>
        {long ? (
          <textarea
            {...common}
            rows={Math.max(rows, rowsFor(value))}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...common}
            list={choices.length > 0 ? `${id}-choices` : undefined}
            onChange={({ target }) => onChange(target.value)}
          />
        )}
      </label>
      {about !== undefined && <p className="muted field-about">{about}</p>}
      {choices.length > 0 && (
        <datalist id={`${id}-choices`}>
          {choices.map((choice) => (
            <option key={choice} value={choice} label={choiceText?.(choice)} />
          ))}
        </datalist>
      )}
      <MistakesAt path={path} id={id} />
    </div>
  );
}

/** As many rows as the text has lines in a narrow field, within limits. */
function rowsFor(text: string): number {
  const lines = text.split("\n").map((line) => Math.ceil((line.length + 1) / 45));
  return Math.min(
    12,
    Math.max(
      2,
      lines.reduce((sum, count) => sum + count, 0),
    ),
  );
}
