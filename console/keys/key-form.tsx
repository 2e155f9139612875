import { useState } from "react";
import { useTroupe } from "troupe/react";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { type Scope, useScopes } from "../shell/access.tsx";
import { KEY_LIVES, Life } from "./lives.tsx";
import { ScopeChoice } from "./scopes.tsx";

interface KeyFormProps {
  onClose: () => void;
  onMade: (key: string) => void;
}

/** Creates a key. Its scopes are a subset of the user's own. */
export function KeyForm({ onClose, onMade }: KeyFormProps) {
  const client = useTroupe();
  const own = useScopes();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [seconds, setSeconds] = useState("");
  const submit = async (): Promise<void> => {
    const made = await client.keys.create({
      name: name.trim(),
      scopes: [...scopes],
      ...(seconds !== "" && { expires_in: Number(seconds) }),
    });
    onClose();
    onMade(made.key);
  };
  return (
    <FormDialog
      title="New key"
      button="Create key"
      complete={scopes.length > 0 && name.trim() !== ""}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      <label className="field">
        <span>Name</span>
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
    </FormDialog>
  );
}
