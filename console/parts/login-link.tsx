import { Name } from "./name.tsx";
import { visibleName, webLink } from "../text/foreign.ts";

interface LoginLinkProps {
  url: string;
  /** The server whose login it is. */
  server: string;
  /** The key that moves the focus to it. */
  keys?: string;
}

/** The link to the page of a login, in another tab without access to this one. An address that is not of the web is a text. */
export function LoginLink({ url, server, keys }: LoginLinkProps) {
  const href = webLink(url);
  if (href === undefined) return <code className="name">{visibleName(url)}</code>;
  return (
    <a
      className="button primary"
      href={href}
      title={href}
      target="_blank"
      rel="noopener noreferrer"
      aria-keyshortcuts={keys}
      data-focus
    >
      Log in at <Name name={server} />
      <span className="outside" aria-label="(opens another site)" role="img" />
    </a>
  );
}
