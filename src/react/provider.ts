import { createContext, createElement, type ReactElement, type ReactNode, useContext } from "react";
import type { TroupeClient } from "../client/teams/client.ts";

const ClientContext = createContext<TroupeClient | undefined>(undefined);

export interface TroupeProviderProps {
  /** Create it once, outside of components: components with the same client share connections. */
  client: TroupeClient;
  children?: ReactNode;
}

/** Provides a client to the hooks of the components below. */
export function TroupeProvider({ client, children }: TroupeProviderProps): ReactElement {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The client for this component. @throws TypeError when no client is given */
export function useTroupe(own?: TroupeClient): TroupeClient {
  const provided = useContext(ClientContext);
  const client = own ?? provided;
  if (client === undefined) {
    throw new TypeError(
      "a hook of troupe/react has no client: render <TroupeProvider client={...}> above the component, or pass { client } to the hook",
    );
  }
  return client;
}
