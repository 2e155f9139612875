import { useState } from "react";
import { labelOf } from "../component/setting-labels.ts";
import { Dialog } from "../dialogs/dialog.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import type { ValuePath } from "../component/value-path.ts";
import { TextField } from "./text-field.tsx";

interface PromptFieldProps {
  path: ValuePath;
  value: string;
  placeholder: string;
  onChange: (text: string) => void;
}

/** The text that instructs a model, in eight lines or in the whole window. */
export function PromptField({ path, value, placeholder, onChange }: PromptFieldProps) {
  const [large, setLarge] = useState(false);
  const key = String(path.at(-1));
  const label = labelOf(key);
  return (
    <div className="prompt-field">
      <TextField
        rows={8}
        path={path}
        label={label}
        about={`AutoGen's field: ${key}`}
        value={value}
        placeholder={placeholder}
        onChange={onChange}
      />
      <IconButton
        small
        icon="fit"
        name="Write in the whole window"
        onClick={() => setLarge(true)}
      />
      {large && (
        <Dialog title={label} wide onClose={() => setLarge(false)}>
          <textarea
            data-focus
            className="prompt-large"
            aria-label={label}
            value={value}
            placeholder={placeholder}
            onChange={({ target }) => onChange(target.value)}
          />
        </Dialog>
      )}
    </div>
  );
}
