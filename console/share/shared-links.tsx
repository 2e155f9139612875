import { useCallback } from "react";
import type { TeamClient, TeamTokens } from "troupe/client";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Problem } from "../parts/problem.tsx";
import { Exact } from "../parts/time.tsx";
import type { Scope } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";

type Link = TeamTokens["tokens"][number];

interface SharedLinksProps {
  team: TeamClient;
  /** The content of a link besides the conversation, by scope. */
  names: ReadonlyMap<Scope, string>;
}

/** The links of a team that have not ended, each with a button that revokes it. */
export function SharedLinks({ team, names }: SharedLinksProps) {
  const load = useCallback(() => allLinks(team), [team]);
  const { value: links = [], error, reload } = useLoaded(load);
  const { tell } = useNotices();
  const task = useButtonAction();
  const revoke = async (id: string): Promise<void> => {
    await team.revokeTokens(id);
    tell("The link was revoked.");
    reload();
  };
  if (links.length === 0) return <Problem error={error} />;
  return (
    <section aria-label="Active links">
      <h3>Active links</h3>
      <ul className="items">
        {links.map((link) => (
          <li key={link.id}>
            <span>
              {sharedParts(link, names)}, by {visibleName(link.made_by)}, until{" "}
              <Exact time={link.expires_at} />
            </span>
            <button
              className="button quiet"
              type="button"
              disabled={task.busy}
              onClick={() => void task.run(() => revoke(link.id))}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      <Problem error={task.error ?? error} />
    </section>
  );
}

function sharedParts({ scopes, request_id }: Link, names: SharedLinksProps["names"]): string {
  if (request_id !== undefined) return "Answers one question";
  const parts = scopes.flatMap((scope) => names.get(scope) ?? []);
  return ["Conversation", ...parts].join(", ");
}

async function allLinks(team: TeamClient): Promise<Link[]> {
  const links: Link[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await team.tokens({ limit: 200, ...(cursor && { cursor }) });
    links.push(...page.tokens.filter(({ kind }) => kind === "link"));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return links;
}
