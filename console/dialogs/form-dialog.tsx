import type { FormEvent, ReactNode } from "react";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Dialog } from "./dialog.tsx";
import { Problem } from "../parts/problem.tsx";

interface FormDialogProps {
  title: string;
  /** The name of the button that sends it. */
  button: string;
  /** False while the form cannot be sent. */
  complete?: boolean;
  wide?: boolean;
  /** True if it asks for something that cannot be undone: its button has the focus. */
  danger?: boolean;
  /** Sends the form. An error is shown below the fields. */
  onSubmit: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog with fields to fill in. */
export function FormDialog({
  title,
  button,
  complete = true,
  wide = false,
  danger = false,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  const task = useButtonAction();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (complete) void task.run(onSubmit);
  };
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form className="stack" onSubmit={submit}>
        {children}
        <Problem error={task.error} />
        <div className="buttons">
          <button className="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            className={danger ? "button danger" : "button primary"}
            data-focus={danger || undefined}
            disabled={task.busy || !complete}
            aria-busy={task.busy}
          >
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
