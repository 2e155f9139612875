import type { ReactNode } from "react";

interface EmptyProps {
  /** A sentence: `No keys yet.` */
  title: string;
  text?: ReactNode;
  /** The button with which the list gets its first item. */
  children?: ReactNode;
}

/** A list without items, in one line. */
export function Empty({ title, text, children }: EmptyProps) {
  return (
    <div className="empty-list">
      <p>
        <strong>{title}</strong> <span className="muted">{text}</span>
      </p>
      {children}
    </div>
  );
}
