/** The team and the token of a link that shares a conversation. */
export interface SharedLink {
  team: string;
  token: string;
}

/** The link in the page's address. The token is in the fragment, which browsers do not send to servers. */
export function sharedLinkIn({
  pathname,
  hash,
}: Pick<Location, "pathname" | "hash">): SharedLink | undefined {
  const [, team] = /^\/shared\/([\w-]+)\/?$/.exec(pathname) ?? [];
  return team === undefined ? undefined : { team, token: hash.slice(1) };
}

export function addressOf({ team, token }: SharedLink): string {
  return `${location.origin}/shared/${team}#${token}`;
}
