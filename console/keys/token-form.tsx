import { type FormEvent, useCallback, useState } from "react";
import { useTroupe } from "troupe/react";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useTask } from "../hooks/use-task.ts";
import { type Scope, useScopes } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
import { Life, TOKEN_LIVES } from "./lives.tsx";
import { ScopeChoice, TOKEN_SCOPES } from "./scopes.tsx";

interface TokenFormProps {
  onClose: () => void;
  onMade: (token: string) => void;
}

/** Makes a token that is good for one team. */
export function TokenForm({ onClose, onMade }: TokenFormProps) {
  const client = useTroupe();
  const own = useScopes();
  const possible = TOKEN_SCOPES.filter((scope) => own.includes(scope));
  const load = useCallback(async () => (await client.teams.list({ limit: 200 })).teams, [client]);
  const { value: teams = [] } = useLoaded(load);
  const [team, setTeam] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [seconds, setSeconds] = useState("3600");
  const task = useTask();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      const body = { scopes: [...scopes], expires_in: Number(seconds) };
      const { token } = await client.team(team.trim()).createToken(body);
      onClose();
      onMade(token);
    });
  };
  return (
    <Dialog title="New team token" onClose={onClose} wide>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Id of the team</span>
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
        <Problem error={task.error} />
        <div className="buttons">
          <button className="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            className="button primary"
            disabled={task.busy || scopes.length === 0 || team.trim() === ""}
            aria-busy={task.busy}
          >
            Create token
          </button>
        </div>
      </form>
    </Dialog>
  );
}
