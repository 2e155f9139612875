import type { Scope } from "../shell/access.tsx";

export const SCOPES: Readonly<Record<Scope, string>> = {
  "teams:read": "read teams, their messages, files, webhooks and connections",
  "teams:write": "create, change, fork, reset and delete teams; change webhooks and connections",
  "runs:read": "read runs, streams, open questions and schedules",
  "runs:write": "start, stop and retry runs, and answer questions; change schedules and files",
  "requests:write": "only answer questions",
  "keys:write": "create, list and revoke keys",
  "usage:read": "read usage",
  "conversation:read": "only read conversations, without arguments of tools",
  "tools:read": "see arguments and results of tools in them",
  "files:read": "read files",
  "component:read": "see instructions and settings of teams",
};

/** The scopes of team tokens. */
export const TOKEN_SCOPES: readonly Scope[] = [
  "teams:read",
  "runs:read",
  "runs:write",
  "requests:write",
];

interface ScopeChoiceProps {
  /** The scopes that the user can grant. */
  scopes: readonly Scope[];
  chosen: readonly Scope[];
  onChange: (chosen: readonly Scope[]) => void;
}

export function ScopeChoice({ scopes, chosen, onChange }: ScopeChoiceProps) {
  const choose = (scope: Scope, now: boolean): void =>
    onChange(scopes.filter((one) => (one === scope ? now : chosen.includes(one))));
  return (
    <fieldset className="choices">
      <legend>Scopes</legend>
      {scopes.map((scope) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={(event) => choose(scope, event.target.checked)}
          />
          <span>
            {SCOPES[scope]} <code className="muted">{scope}</code>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
