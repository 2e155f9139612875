import { useState } from "react";
import type { ReceiverInput, ShownReceiver } from "troupe/client";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { receiverOf, typedReceiver } from "./receiver.ts";
import { ReceiverFields } from "./receiver-fields.tsx";

interface ReceiverFormProps {
  /** The receiver to change; undefined for a new one. */
  receiver: ShownReceiver | undefined;
  onSave: (receiver: ReceiverInput) => Promise<void>;
  onClose: () => void;
}

export function ReceiverForm({ receiver, onSave, onClose }: ReceiverFormProps) {
  const [typed, setTyped] = useState(() => typedReceiver(receiver));
  return (
    <FormDialog
      title={receiver === undefined ? "New receiver" : "Edit receiver"}
      button={receiver === undefined ? "Add receiver" : "Save"}
      complete={typed.on.length > 0}
      wide
      onSubmit={() => onSave(receiverOf(typed))}
      onClose={onClose}
    >
      <ReceiverFields receiver={typed} onChange={setTyped} />
    </FormDialog>
  );
}
