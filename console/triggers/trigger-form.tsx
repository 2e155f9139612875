import { useState } from "react";
import type { TeamClient, TriggerInfo } from "troupe/client";
import { type Conflict, ConflictField } from "../managed/conflict-field.tsx";
import { ManagedForm } from "../managed/managed-form.tsx";
import { filterIsComplete, filterOf, typedFilter } from "./filter.ts";
import { FilterFields } from "./filter-fields.tsx";
import { ISSUED, KIND_NAMES, KINDS, type TriggerKind } from "./kinds.ts";
import { receiverOf, typedReceiver, type TypedReceiver } from "./receiver.ts";
import { TriggerReceivers } from "./trigger-receivers.tsx";

interface TriggerFormProps {
  team: TeamClient;
  /** The trigger to change; undefined for a new one. */
  trigger: TriggerInfo | undefined;
  /** The ids that exist. */
  taken: readonly string[];
  onClose: () => void;
  /** @param secret the secret that was made for it */
  onSaved: (secret: string | undefined) => void;
}

export function TriggerForm({ team, trigger, taken, onClose, onSaved }: TriggerFormProps) {
  const [stored] = useState(() => (trigger?.notify ?? []).map(typedReceiver));
  const [id, setId] = useState(trigger?.id ?? "");
  const [kind, setKind] = useState<TriggerKind>(trigger?.kind ?? "github");
  const [task, setTask] = useState(trigger?.task ?? "");
  const [user, setUser] = useState(trigger?.user ?? "");
  const [secret, setSecret] = useState("");
  const [conflict, setConflict] = useState<Conflict>(trigger?.on_conflict ?? "queue");
  const [conditions, setConditions] = useState(() => typedFilter(trigger?.filter ?? null));
  const [receivers, setReceivers] = useState<readonly TypedReceiver[]>(stored);
  const needsSecret = trigger?.kind !== kind && ISSUED.has(kind);
  const complete =
    task.trim() !== "" &&
    (!needsSecret || secret.trim() !== "") &&
    filterIsComplete(conditions) &&
    receivers.every(({ on }) => on.length > 0);

  const submit = async (): Promise<void> => {
    const saved = await team.triggers.put(id, {
      kind,
      task,
      on_conflict: conflict,
      filter: filterOf(conditions),
      user: user.trim() || null,
      ...(secret.trim() !== "" && { secret: secret.trim() }),
      // Those that stay the same keep the credential that named them.
      ...(receivers !== stored && { notify: receivers.map(receiverOf) }),
    });
    onClose();
    onSaved(saved.secret);
  };

  return (
    <ManagedForm
      noun="trigger"
      changes={trigger?.id}
      id={id}
      taken={taken}
      complete={complete}
      onId={setId}
      onSubmit={submit}
      onClose={onClose}
    >
      <label className="field">
        <span>Sender</span>
        <select value={kind} onChange={(event) => setKind(event.target.value as TriggerKind)}>
          {KIND_NAMES.map((name) => (
            <option key={name} value={name}>
              {KINDS[name]}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Task</span>
        <textarea
          rows={4}
          required
          placeholder="Triage the issue {{ issue.title }}"
          value={task}
          onChange={(event) => setTask(event.target.value)}
        />
      </label>
      {kind !== "email" && (
        <label className="field">
          <span>{needsSecret ? `Signing secret of ${KINDS[kind]}` : "Secret (optional)"}</span>
          <input
            className="code"
            type="password"
            autoComplete="off"
            required={needsSecret}
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
      )}
      <FilterFields conditions={conditions} onChange={setConditions} />
      <div className="two-fields">
        <ConflictField conflict={conflict} onChange={setConflict} />
        <label className="field">
          <span>User of its runs (optional)</span>
          <input value={user} onChange={(event) => setUser(event.target.value)} />
        </label>
      </div>
      <TriggerReceivers receivers={receivers} onChange={setReceivers} />
    </ManagedForm>
  );
}
