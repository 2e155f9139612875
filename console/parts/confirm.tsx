import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";
import { useTask } from "../hooks/use-task.ts";

interface ConfirmProps {
  title: string;
  /** What will happen. */
  text: string;
  button: string;
  action: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, text, button, action, onClose }: ConfirmProps) {
  const task = useTask();
  const confirm = async (): Promise<void> => {
    await action();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Problem error={task.error} />
      <div className="buttons">
        <button className="button" type="button" onClick={onClose}>
          Keep it
        </button>
        <button
          className="button danger"
          type="button"
          data-focus
          disabled={task.busy}
          aria-busy={task.busy}
          onClick={() => void task.run(confirm)}
        >
          {button}
        </button>
      </div>
    </Dialog>
  );
}
