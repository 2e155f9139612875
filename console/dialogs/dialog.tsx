import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "../parts/icon-button.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A dialog over the page, which keeps the focus, at first on what has `data-focus`, and closes with Escape. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) {
      element.showModal();
      element.querySelector<HTMLElement>("[data-focus]")?.focus();
    }
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="dialog-body">
        <header>
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" name="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
