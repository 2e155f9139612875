import { createContext, createElement, type ReactElement, type ReactNode, useContext } from "react";
import type { TroupeClient } from "../client/client.ts";

const ClientContext = createContext<TroupeClient | undefined>(undefined);

export interface TroupeProviderProps {
  /** Made once, outside of components: components on one client share their connections. */
  client: TroupeClient;
  children?: ReactNode;
}

/** Gives a client to the hooks of the components below. */
export function TroupeProvider({ client, children }: TroupeProviderProps): ReactElement {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The client for this component. @throws TypeError when there is none */
export function useTroupe(own?: TroupeClient): TroupeClient {
  const provided = useContext(ClientContext);
  const client = own ?? provided;
  if (client === undefined) {
    throw new TypeError(
      "a hook of troupe/react has no client: put <TroupeProvider client={...}> above the component, or give the hook { client }",
    );
  }
  return client;
}
