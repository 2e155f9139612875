import type { Scope } from "../shell/access.tsx";

const SCOPES: Readonly<Record<Exclude<Scope, `approvals:${string}`>, string>> = {
  "teams:read": "Read teams, messages, files, webhooks and connections",
  "teams:write": "Create, edit, fork, reset and delete teams; edit webhooks and connections",
  "runs:read": "Read runs, streams, open questions and schedules",
  "runs:write": "Start, stop and retry runs; answer questions; edit schedules and files",
  "requests:write": "Answer questions",
  "keys:write": "Create, list and revoke keys",
  "usage:read": "Read usage",
  "conversation:read": "Read conversations, without tool arguments",
  "tools:read": "See tool arguments and results in conversations",
  "files:read": "Read files",
  "component:read": "See system messages and settings of teams",
};

/** The right that a scope gives. */
function describedScope(scope: Scope): string {
  return Object.hasOwn(SCOPES, scope)
    ? SCOPES[scope as keyof typeof SCOPES]
    : "Approve calls whose rule names this scope";
}

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
            {describedScope(scope)} <code className="muted">{scope}</code>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
