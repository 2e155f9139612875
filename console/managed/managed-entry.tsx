import type { ReactNode } from "react";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";

/** The actions on an item of a managed page. */
export interface ManagedActions {
  onRotate: () => Promise<void>;
  onEdit: () => void;
  onDelete: () => void;
}

interface ManagedEntryProps {
  id: string;
  /** Its name, if that is more than the id. */
  title: ReactNode;
  /** Undefined for users who may only read. */
  actions: ManagedActions | undefined;
  /** False if another party issues its secret. */
  rotates?: boolean;
  /** Buttons before the others. */
  buttons?: ReactNode;
  children: ReactNode;
}

/** An item of a managed page, with the buttons to change it. */
export function ManagedEntry(props: ManagedEntryProps) {
  const { id, title, actions, rotates = true, buttons, children } = props;
  const rotating = useButtonAction();
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">{title}</p>
        {children}
      </div>
      {actions && (
        <div className="item-actions" role="group" aria-label={id}>
          {buttons}
          {rotates && (
            <button
              className="button small"
              type="button"
              disabled={rotating.busy}
              aria-busy={rotating.busy}
              onClick={() => void rotating.run(actions.onRotate)}
            >
              <Icon name="retry" />
              New secret
            </button>
          )}
          <IconButton icon="edit" name="Edit" onClick={actions.onEdit} />
          <IconButton icon="bin" name="Delete" onClick={actions.onDelete} />
        </div>
      )}
    </li>
  );
}
