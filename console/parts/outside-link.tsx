import { visibleName, webLink } from "../text/foreign.ts";

interface OutsideLinkProps {
  url: string;
  label: string;
  /** The key that moves the focus to it. */
  keys?: string;
}

/**
 * The link to a page that a run waits for, such as a login: in another tab without access to this one. An address that is not of the web
 * is a text.
 */
export function OutsideLink({ url, label, keys }: OutsideLinkProps) {
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
      {visibleName(label)}
      <span className="outside" aria-label="(opens another site)" role="img" />
    </a>
  );
}
