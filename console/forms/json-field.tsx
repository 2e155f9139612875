import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";

/** Something that has no fields of its own, as JSON. While it is no JSON, the last that was stays. */
export function JsonField({ formData, fieldPathId, onChange, schema, required }: FieldProps) {
  const [text, setText] = useState(() =>
    formData === undefined ? "" : JSON.stringify(formData, null, 2),
  );
  const [wrong, setWrong] = useState<string>();
  const change = (next: string): void => {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next), fieldPathId.path);
      setWrong(undefined);
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <label className="field">
      <span>
        {schema.title} (JSON){required && " *"}
      </span>
      <textarea
        id={fieldPathId.$id}
        className="code"
        rows={Math.min(10, text.split("\n").length + 1)}
        spellCheck={false}
        value={text}
        aria-invalid={wrong !== undefined}
        onChange={({ target }) => change(target.value)}
      />
      {wrong !== undefined && <span className="field-errors">{wrong}</span>}
    </label>
  );
}
