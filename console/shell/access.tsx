import { createContext, type ReactNode, useContext } from "react";
import type { WhoAmI } from "troupe/client";

export type Scope = WhoAmI["scopes"][number];

const Scopes = createContext<readonly Scope[]>([]);

interface AccessProps {
  whoami: Pick<WhoAmI, "scopes">;
  children: ReactNode;
}

/** Provides the credential's scopes. */
export function Access({ whoami, children }: AccessProps) {
  return <Scopes value={whoami.scopes}>{children}</Scopes>;
}

/** The credential's scopes. */
export function useScopes(): readonly Scope[] {
  return useContext(Scopes);
}

/** True if the scopes include another one, as the server sees it: what may run a team may answer its questions. */
function permits(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes(scope) || (scope === "requests:write" && scopes.includes("runs:write"));
}

/** True if the credential may do all that the scopes allow. Actions that it does not allow are hidden. */
export function useMay(...needed: readonly Scope[]): boolean {
  const scopes = useScopes();
  return needed.every((scope) => permits(scopes, scope));
}

/** An action, for a credential with its scopes. */
export function IfMay({ scopes, children }: { scopes: readonly Scope[]; children: ReactNode }) {
  return useMay(...scopes) && children;
}

interface NeedsProps {
  scopes: readonly Scope[];
  children: ReactNode;
}

/** A screen, for a credential with its scopes. */
export function Needs({ scopes, children }: NeedsProps) {
  if (useMay(...scopes)) return children;
  return (
    <div className="empty">
      <h1>Your key does not have access to this page</h1>
      <p className="muted">
        It needs {scopes.length === 1 ? "the scope" : "the scopes"} <code>{scopes.join(" ")}</code>.
      </p>
    </div>
  );
}
