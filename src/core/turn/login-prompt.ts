import type { LoginOfQuestion } from "./turn-context.ts";

const CANCEL = 'The run then continues by itself. Answer "cancel" to continue without the login.';

/** The question for a login, as everybody sees it who must not have its address. */
export function loginPrompt({ server, user }: Omit<LoginOfQuestion, "url">): string {
  const who =
    user === null
      ? `An operator has to connect ${server}.`
      : `The user ${JSON.stringify(user)} has to log in: only a credential of this user is given the address.`;
  return `${whatFor({ server, user })} ${who}\n${CANCEL}`;
}

/** The same question for those who may log in. The address stands in a sentence of its own. */
export function openLoginPrompt({ server, user, url }: LoginOfQuestion): string {
  const body = user === null ? `"server"` : `"server", and "user": ${JSON.stringify(user)},`;
  const where =
    url === null
      ? `POST /v1/connections with its URL as ${body} gives the address for it.`
      : `Open this address in a browser and log in: ${url}`;
  return `${whatFor({ server, user })} ${where}\n${CANCEL}`;
}

function whatFor({ server, user }: Omit<LoginOfQuestion, "url">): string {
  const uses =
    user === null
      ? "All runs of this tenant that have no user will be able to use it."
      : `Only runs of the user ${JSON.stringify(user)} will be able to use it.`;
  return `The MCP server "${server}" needs a login. ${uses}`;
}
