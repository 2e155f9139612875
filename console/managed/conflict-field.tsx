import type { PutTrigger } from "troupe/client";

export type Conflict = NonNullable<PutTrigger["on_conflict"]>;

const CONFLICTS: Readonly<Record<Conflict, string>> = {
  queue: "Start when it ends",
  interrupt: "Cancel it and start",
  reject: "Skip this time",
  steer: "Send the task into it",
};

interface ConflictFieldProps {
  conflict: Conflict;
  onChange: (conflict: Conflict) => void;
}

/** The choice of a schedule or a trigger for the case that a run is active. */
export function ConflictField({ conflict, onChange }: ConflictFieldProps) {
  return (
    <label className="field">
      <span>If another run is active</span>
      <select value={conflict} onChange={(event) => onChange(event.target.value as Conflict)}>
        {Object.entries(CONFLICTS).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
