// Runs on the server of the site alone: the key never reaches a browser.
import { TroupeClient } from "troupe/client";

const { TROUPE_URL = "http://127.0.0.1:8787", TROUPE_KEY } = process.env;

export const troupe = new TroupeClient({ baseURL: TROUPE_URL, token: TROUPE_KEY });

/** The cookie with the id of a customer's conversation. No script reads it. */
export const CONVERSATION = "conversation";

type Scopes = Parameters<ReturnType<typeof troupe.team>["createToken"]>[0]["scopes"];

/** What a page needs to reach one team for ten minutes: the browser asks for the next token before then. */
export async function accessTo(team: string, scopes: Scopes): Promise<Access> {
  const expires_in = 600;
  const { token } = await troupe.team(team).createToken({ scopes, expires_in });
  return { token, expires_in };
}

export interface Access {
  token: string;
  /** In seconds. */
  expires_in: number;
}

/** Where browsers reach Troupe. */
export const publicUrl = TROUPE_URL;
