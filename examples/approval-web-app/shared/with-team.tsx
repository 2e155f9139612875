"use client";
import { type ReactNode, useState } from "react";
import { TroupeClient } from "troupe/client";
import { TroupeProvider } from "troupe/react";
import type { Access } from "./server.ts";

export interface WithTeamProps {
  url: string;
  /** The route of this site that makes tokens for the team. */
  tokens: string;
  children: ReactNode;
}

/** Gives the hooks below a client with short-lived tokens. */
export function WithTeam({ url, tokens, children }: WithTeamProps) {
  const [client] = useState(() => clientOf(url, tokens));
  return <TroupeProvider client={client}>{children}</TroupeProvider>;
}

function clientOf(baseURL: string, tokens: string): TroupeClient {
  let token: Promise<string> | undefined;
  const forget = (): void => {
    token = undefined;
  };
  const fetchToken = async (): Promise<string> => {
    const response = await fetch(tokens, { method: "POST" });
    if (!response.ok) throw new Error(`${tokens}: ${response.status}`);
    const access = (await response.json()) as Access;
    // The last minute is for requests that are under way.
    setTimeout(forget, (access.expires_in - 60) * 1000);
    return access.token;
  };
  const currentToken = (): Promise<string> => {
    if (token === undefined) {
      token = fetchToken();
      token.catch(forget);
    }
    return token;
  };
  return new TroupeClient({ baseURL, token: currentToken });
}
