import { useId, useState } from "react";
import { wrongName } from "../component/edits.ts";
import { MistakesAt } from "./mistakes.tsx";
import type { ValuePath } from "../component/value-path.ts";
import { at } from "./wanted.ts";

interface NameFieldProps {
  path: ValuePath;
  value: string;
  /** The names of the other agents. */
  others: readonly string[];
  onChange: (name: string) => void;
}

/** The name of an agent. It changes when the field is left, because handoffs and edges have it, too. */
export function NameField({ path, value, others, onChange }: NameFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const wrong = typed === undefined || typed === value ? undefined : wrongName(typed, others);
  const finish = (): void => {
    if (typed === undefined || wrong !== undefined) return;
    setTyped(undefined);
    if (typed !== value) onChange(typed);
  };
  return (
    <div className="editor-field" {...at(path)}>
      <label className="field">
        <span>Name</span>
        <input
          value={typed ?? value}
          spellCheck={false}
          aria-invalid={wrong !== undefined}
          aria-describedby={wrong === undefined ? undefined : id}
          onChange={({ target }) => setTyped(target.value.trim())}
          onBlur={finish}
          onKeyDown={(event) => {
            if (event.key === "Enter") finish();
            if (event.key === "Escape") setTyped(undefined);
          }}
        />
      </label>
      {wrong !== undefined && (
        <p id={id} className="field-errors">
          {wrong}
        </p>
      )}
      <MistakesAt path={path} id={`${id}-server`} />
    </div>
  );
}
