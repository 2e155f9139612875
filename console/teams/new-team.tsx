import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { ComponentForm } from "./component-form.tsx";
import { Templates } from "./templates.tsx";

export function NewTeam({ onClose }: { onClose: () => void }) {
  const [own, setOwn] = useState(false);
  return (
    <Dialog title="New team" onClose={onClose} wide>
      <div className="segments" role="group" aria-label="What the team is made from">
        <button type="button" aria-pressed={!own} onClick={() => setOwn(false)}>
          Template
        </button>
        <button type="button" aria-pressed={own} onClick={() => setOwn(true)}>
          Component JSON
        </button>
      </div>
      {own ? <ComponentForm /> : <Templates />}
    </Dialog>
  );
}
