import { useCallback, useState } from "react";
import { useTroupe } from "troupe/react";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { type Scope, useScopes } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
import { Life, TOKEN_LIVES } from "./lives.tsx";
import { ScopeChoice, TOKEN_SCOPES } from "./scopes.tsx";

interface TokenFormProps {
  onClose: () => void;
  onMade: (token: string) => void;
}

/** Creates a token for one team. */
export function TokenForm({ onClose, onMade }: TokenFormProps) {
  const client = useTroupe();
  const own = useScopes();
  const possible = TOKEN_SCOPES.filter((scope) => own.includes(scope));
  const load = useCallback(async () => (await client.teams.list({ limit: 200 })).teams, [client]);
  const { value: teams = [] } = useLoaded(load);
  const [team, setTeam] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [seconds, setSeconds] = useState("3600");
  const submit = async (): Promise<void> => {
    const body = { scopes: [...scopes], expires_in: Number(seconds) };
    const { token } = await client.team(team.trim()).createToken(body);
    onClose();
    onMade(token);
  };
  return (
    <FormDialog
      title="New team token"
      button="Create token"
      complete={scopes.length > 0 && team.trim() !== ""}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      <label className="field">
        <span>Team ID</span>
        <input
          required
          list="token-teams"
          autoComplete="off"
          spellCheck={false}
          data-focus
          value={team}
          onChange={(event) => setTeam(event.target.value)}
        />
        <datalist id="token-teams">
          {teams.map(({ id, label }) => (
            <option key={id} value={id}>
              {visibleName(label ?? id)}
            </option>
          ))}
        </datalist>
      </label>
      <ScopeChoice scopes={possible} chosen={scopes} onChange={setScopes} />
      <Life lives={TOKEN_LIVES} seconds={seconds} onChange={setSeconds} />
    </FormDialog>
  );
}
