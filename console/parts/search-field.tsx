import { useEffect, useRef, useState } from "react";
import { Icon } from "./icon.tsx";

const TYPING_MS = 250;

interface SearchFieldProps {
  label: string;
  placeholder: string;
  maxLength?: number;
  value: string;
  onChange: (value: string) => void;
}

/** A field whose text counts once the user pauses. */
export function SearchField({
  label,
  placeholder,
  maxLength = 200,
  value,
  onChange,
}: SearchFieldProps) {
  const [text, setText] = useState(value);
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => changed.current(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <div className="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}
