import { useId, useState } from "react";
import { fromPython, namesOf } from "../component/python-json.ts";
import { MistakesAt } from "./mistakes.tsx";
import type { ValuePath } from "../component/value-path.ts";
import { at } from "./wanted.ts";

interface JsonFieldProps {
  path: ValuePath;
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** A value as JSON. While the text is not JSON, the last value stays. */
export function JsonField({ path, label, value, onChange }: JsonFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  const [wrong, setWrong] = useState<string>();
  const json = value === undefined ? "" : JSON.stringify(value, null, 2);
  // The typed text is shown until the value changes elsewhere, for example because a change is undone.
  const text = typed?.of === json ? typed.text : json;
  const change = (next: string): void => {
    try {
      const parsed: unknown = next.trim() === "" ? undefined : JSON.parse(next);
      setTyped({ text: next, of: parsed === undefined ? "" : JSON.stringify(parsed, null, 2) });
      setWrong(undefined);
      onChange(parsed);
    } catch (error) {
      setTyped({ text: next, of: json });
      setWrong(`This is not JSON: ${(error as Error).message}`);
    }
  };
  const python = wrong === undefined ? undefined : fromPython(text);
  const isWrong = wrong !== undefined && typed?.of === json;
  return (
    <div className="editor-field" {...at(path)}>
      <label className="field">
        <span>{label} (JSON)</span>
        <textarea
          className="code"
          rows={Math.min(24, text.split("\n").length + 1)}
          spellCheck={false}
          value={text}
          // A form is not sent while the text is not JSON.
          ref={(field) => field?.setCustomValidity(isWrong ? wrong : "")}
          aria-invalid={isWrong}
          aria-describedby={isWrong ? id : undefined}
          onChange={({ target }) => change(target.value)}
        />
      </label>
      {isWrong && (
        <p id={id} className="field-errors">
          {python === undefined
            ? wrong
            : `This is Python, not JSON: it has ${namesOf(python.found)}.`}
        </p>
      )}
      {isWrong && python !== undefined && (
        <button className="button small" type="button" onClick={() => change(python.json)}>
          Change it to JSON
        </button>
      )}
      <MistakesAt path={path} id={`${id}-server`} />
    </div>
  );
}
