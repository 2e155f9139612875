import { loginPrompt, openLoginPrompt } from "../../core/turn/login-prompt.ts";
import type { LoginOfQuestion } from "../../core/turn/turn-context.ts";
import type { HumanRequest } from "../run.ts";

/** The logins whose addresses a caller may be given: whoever has one can lend an account to what uses the login. */
export interface LoginSight {
  /** Those of runs without a user. */
  tenant: boolean;
  /** Those of this user's runs; null for those of no user. */
  user: string | null;
}

/** True if the caller may be given the address of a login. */
export function maySee(sight: LoginSight, { user }: Pick<LoginOfQuestion, "user">): boolean {
  return user === null ? sight.tenant : user === sight.user;
}

/** A record of a request. Earlier versions had the address of a login in its prompt, which everybody saw; it was the tenant's. */
interface AddressedRecord {
  source: string;
  prompt: string;
  url?: string | undefined;
}

/** The login of a record of an earlier version, and its prompt without the address; nothing for other records. */
export function loginOfRecord({
  source,
  prompt,
  url,
}: AddressedRecord): { prompt: string; login: LoginOfQuestion } | undefined {
  if (url === undefined) return undefined;
  const [, server = source] = /^The MCP server "(.{1,300}?)" needs/.exec(prompt) ?? [];
  const login = { server, user: null, url };
  return { prompt: loginPrompt(login), login };
}

/**
 * The request with the address of its login, as it is shown to those who may have it. Everywhere else requests are without it.
 *
 * @param login undefined where the request is none for a login
 */
export function withLogin<Shown extends Pick<HumanRequest, "prompt">>(
  request: Shown,
  login: LoginOfQuestion | undefined,
  sight: LoginSight | undefined,
): Shown {
  if (login === undefined || sight === undefined || !maySee(sight, login)) return request;
  const { url } = login;
  return { ...request, prompt: openLoginPrompt(login), ...(url !== null && { url }) };
}
