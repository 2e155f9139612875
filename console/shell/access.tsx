import { createContext, type ReactNode, useContext } from "react";
import type { WhoAmI } from "troupe/client";

export type Scope = WhoAmI["scopes"][number];

const Scopes = createContext<readonly Scope[]>([]);

/** Provides the credential's scopes. */
export function Access({ whoami, children }: { whoami: WhoAmI; children: ReactNode }) {
  return <Scopes value={whoami.scopes}>{children}</Scopes>;
}

/** The credential's scopes. */
export function useScopes(): readonly Scope[] {
  return useContext(Scopes);
}

/** True if the credential has the scope. Actions that it does not allow are hidden. */
export function useMay(scope: Scope): boolean {
  return useScopes().includes(scope);
}

/** A screen, for a credential with a scope. */
export function Needs({ scope, children }: { scope: Scope; children: ReactNode }) {
  if (useMay(scope)) return children;
  return (
    <div className="empty">
      <h1>Your key has no access to this page</h1>
      <p className="muted">
        Use a key with the scope <code>{scope}</code>.
      </p>
    </div>
  );
}
