import { type FormEvent, useState } from "react";
import { useTroupe } from "troupe/react";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { useTask } from "../hooks/use-task.ts";
import { type Scope, useScopes } from "../shell/access.tsx";
import { KEY_LIVES, Life } from "./lives.tsx";
import { ScopeChoice } from "./scopes.tsx";

interface KeyFormProps {
  onClose: () => void;
  onMade: (key: string) => void;
}

/** Makes a key that may do no more than the one that makes it. */
export function KeyForm({ onClose, onMade }: KeyFormProps) {
  const client = useTroupe();
  const own = useScopes();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [seconds, setSeconds] = useState("");
  const task = useTask();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      const made = await client.keys.create({
        name: name.trim(),
        scopes: [...scopes],
        ...(seconds !== "" && { expires_in: Number(seconds) }),
      });
      onClose();
      onMade(made.key);
    });
  };
  return (
    <Dialog title="New key" onClose={onClose} wide>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>What it is for</span>
          <input
            required
            maxLength={200}
            data-focus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <ScopeChoice scopes={own} chosen={scopes} onChange={setScopes} />
        <Life lives={KEY_LIVES} seconds={seconds} onChange={setSeconds} />
        <Problem error={task.error} />
        <div className="buttons">
          <button className="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            className="button primary"
            disabled={task.busy || scopes.length === 0 || name.trim() === ""}
            aria-busy={task.busy}
          >
            Create key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
