import { useState } from "react";
import type { TeamClient, TeamVersion } from "troupe/client";
import { FormDialog } from "../dialogs/form-dialog.tsx";

interface LabelFormProps {
  team: TeamClient;
  version: TeamVersion;
  onSaved: () => void;
  onClose: () => void;
}

/** The label of a version and the note on it. */
export function LabelForm({ team, version, onSaved, onClose }: LabelFormProps) {
  const [label, setLabel] = useState(version.label ?? "");
  const [note, setNote] = useState(version.note ?? "");
  const save = async (): Promise<void> => {
    await team.versions.label(version.component_version, {
      label: label.trim() || null,
      note: note || null,
    });
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={`Version ${version.component_version}`}
      button="Save"
      onSubmit={save}
      onClose={onClose}
    >
      <label className="field">
        <span>
          Label. It is taken from the version that has it; versions with a label are kept.
        </span>
        <input
          data-focus
          value={label}
          maxLength={100}
          onChange={(event) => setLabel(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Note</span>
        <textarea
          rows={3}
          value={note}
          maxLength={2_000}
          onChange={(event) => setNote(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}
