import type { ReactNode } from "react";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { IdField } from "../dialogs/id-field.tsx";

interface ManagedFormProps {
  noun: string;
  /** The id of the item to change; undefined for a new one. */
  changes: string | undefined;
  id: string;
  /** The ids that exist. */
  taken: readonly string[];
  /** False while the form cannot be sent. */
  complete: boolean;
  onId: (id: string) => void;
  onSubmit: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}

/** The form of an item of a managed page. A new one has a field for its id. */
export function ManagedForm(props: ManagedFormProps) {
  const { noun, changes, id, taken, complete, onId, onSubmit, onClose, children } = props;
  const isNew = changes === undefined;
  const exists = isNew && taken.includes(id);
  return (
    <FormDialog
      title={isNew ? `New ${noun}` : `Edit ${changes}`}
      button={isNew ? `Create ${noun}` : "Save"}
      complete={complete && !exists}
      wide
      onSubmit={onSubmit}
      onClose={onClose}
    >
      {isNew && <IdField id={id} onChange={onId} />}
      {children}
      {exists && <p className="problem">A {noun} with this ID exists. Choose another ID.</p>}
    </FormDialog>
  );
}
