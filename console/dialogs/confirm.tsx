import { FormDialog } from "./form-dialog.tsx";

interface ConfirmProps {
  title: string;
  /** The consequences. */
  text: string;
  button: string;
  action: () => Promise<void>;
  onClose: () => void;
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({ title, text, button, action, onClose }: ConfirmProps) {
  const confirm = async (): Promise<void> => {
    await action();
    onClose();
  };
  return (
    <FormDialog title={title} button={button} danger onSubmit={confirm} onClose={onClose}>
      <p>{text}</p>
    </FormDialog>
  );
}
