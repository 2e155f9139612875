interface FieldErrorsProps {
  /** The id by which the field refers to them. */
  id?: string;
  messages?: readonly string[] | undefined;
}

/** The mistakes of a field. */
export function FieldErrors({ id, messages = [] }: FieldErrorsProps) {
  if (messages.length === 0) return null;
  return (
    <ul id={id} className="field-errors">
      {messages.map((message) => (
        <li key={message}>{message}</li>
      ))}
    </ul>
  );
}
