interface IdFieldProps {
  id: string;
  onChange: (id: string) => void;
}

/** The id of something new. It has the focus when its form opens. */
export function IdField({ id, onChange }: IdFieldProps) {
  return (
    <label className="field">
      <span>ID (letters, digits, - and _)</span>
      <input
        required
        pattern="[A-Za-z0-9_\-]{1,64}"
        spellCheck={false}
        autoComplete="off"
        data-focus
        value={id}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
