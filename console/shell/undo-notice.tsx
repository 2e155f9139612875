import { useEffect, useRef, useState } from "react";

interface UndoNoticeProps {
  text: string;
  /** True if Ctrl+Z undoes it. */
  byKeyboard: boolean;
  onUndo: () => void;
  onTimeOver: () => void;
}

const UNDO_MS = 7_000;

/** Announces a pending change. The countdown stops while the notice has the pointer or the focus. */
export function UndoNotice({ text, byKeyboard, onUndo, onTimeOver }: UndoNoticeProps) {
  const [held, setHeld] = useState(false);
  const timeOver = useRef(onTimeOver);
  timeOver.current = onTimeOver;
  useEffect(() => {
    if (held) return undefined;
    const timer = setTimeout(() => timeOver.current(), UNDO_MS);
    return () => clearTimeout(timer);
  }, [held]);
  const undo = useRef(onUndo);
  undo.current = onUndo;
  useEffect(() => {
    if (!byKeyboard) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "z" || event.shiftKey || event.defaultPrevented) return;
      if (!event.ctrlKey && !event.metaKey) return;
      const { target } = event;
      if (target instanceof Element && target.closest("input, textarea, select")) return;
      event.preventDefault();
      undo.current();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [byKeyboard]);
  return (
    <div
      className="notice"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{text}</span>
      <button
        className="button small"
        type="button"
        aria-keyshortcuts="Control+Z"
        title="Undo (Ctrl+Z)"
        onClick={onUndo}
      >
        Undo
      </button>
    </div>
  );
}
