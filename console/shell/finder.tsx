import { reasonOf } from "../runs/failure-words.ts";
import { counted } from "../parts/numbers.ts";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { WhoAmI } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLocation } from "wouter";
import { Dialog } from "../dialogs/dialog.tsx";
import { placeInConversation } from "../team/place.ts";
import { visibleName } from "../text/foreign.ts";
import { preview } from "../text/preview.ts";
import { pagesOf } from "./first-page.ts";

interface Found {
  kind: "Page" | "Team" | "Run" | "Message";
  href: string;
  name: string;
  /** Distinguishes it from others of its name. */
  detail: string;
  /** The team whose message it is: messages are listed under the names of their teams. */
  team?: { id: string; name: string };
}

const PAGES = [
  ["teams", "/", "Home"],
  ["teams", "/teams", "Teams"],
  ["inbox", "/inbox", "Inbox"],
  ["runs", "/runs", "Runs"],
  ["usage", "/usage", "Usage"],
  ["memory", "/memory", "Memory"],
  ["memory", "/memory/collections", "Documents"],
  ["webhooks", "/webhooks", "Webhooks"],
  ["connections", "/connections", "Connections"],
  ["keys", "/keys", "Keys"],
] as const;

const TYPING_MS = 150;
/** A search over all teams waits for a longer pause: it asks many of them. */
const LONGER_MS = 400;
const MOST = 6;
const MOST_MESSAGES = 20;

interface FinderProps {
  whoami: WhoAmI;
  onClose: () => void;
}

/** Finds pages, teams, runs by what was asked and answered in them, and messages: those of the open team first. */
export default function Finder({ whoami, onClose }: FinderProps) {
  const [path, navigate] = useLocation();
  const [text, setText] = useState("");
  const [picked, setPicked] = useState<string>();
  const list = useId();
  const wanted = text.trim();
  const openTeam = /^\/teams\/([\w-]+)/.exec(path)?.[1];
  const listed = useFound(wanted, whoami);
  const said = useMessages(wanted, whoami, openTeam);
  const found = [...listed, ...said.messages];
  // Results that arrive later do not change what was picked.
  const chosen = Math.max(
    0,
    found.findIndex((item) => keyOf(item) === picked),
  );
  const open = (item: Found | undefined): void => {
    if (item === undefined) return;
    onClose();
    navigate(item.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = found[(chosen + step + found.length) % Math.max(1, found.length)];
      setPicked(next && keyOf(next));
    }
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    open(found[chosen]);
  };
  return (
    <Dialog title="Find" onClose={onClose} wide>
      <input
        type="search"
        role="combobox"
        aria-label="Find pages, teams, runs and messages"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder="Teams, runs, messages, pages"
        maxLength={200}
        data-focus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setPicked(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} className="found" role="listbox" aria-label="Results">
        {groupsOf(found).map(({ team, items, first }) => (
          <ul
            key={team?.id ?? ""}
            role="group"
            aria-label={team === undefined ? "Pages, teams and runs" : visibleName(team.name)}
          >
            {team !== undefined && (
              <li className="found-team one-line muted" role="presentation">
                {visibleName(team.name)}
              </li>
            )}
            {items.map((item, index) => (
              <li
                key={keyOf(item)}
                id={`${list}-${first + index}`}
                role="option"
                aria-selected={first + index === chosen}
                onClick={() => open(item)}
              >
                <span className="muted">{item.kind}</span>
                <strong className="one-line">{visibleName(item.name)}</strong>
                <span className="one-line muted">{visibleName(item.detail)}</span>
              </li>
            ))}
          </ul>
        ))}
      </div>
      {said.searched !== undefined && (
        <p className="muted">
          Searched the messages of {counted(said.searched, "team")}, the last active ones.
        </p>
      )}
      {found.length === 0 && text !== "" && <p className="muted">No results.</p>}
    </Dialog>
  );
}

function keyOf({ kind, href, detail }: Found): string {
  return `${kind} ${href} ${detail}`;
}

interface Group extends Pick<Found, "team"> {
  items: Found[];
  /** The place of its first item among all. */
  first: number;
}

/** Items with those of the same team that follow them. */
function groupsOf(found: readonly Found[]): Group[] {
  const groups: Group[] = [];
  for (const [first, item] of found.entries()) {
    const last = groups.at(-1);
    if (last !== undefined && last.team?.id === item.team?.id) last.items.push(item);
    else groups.push({ team: item.team, items: [item], first });
  }
  return groups;
}

/** Pages, teams and runs. */
function useFound(text: string, whoami: WhoAmI): Found[] {
  const client = useTroupe();
  const allowed = pagesOf(whoami);
  const items = useSearch(text, TYPING_MS, NOTHING, async (): Promise<readonly Found[]> => {
    const query = { q: text, limit: MOST };
    const [teams, runs] = await Promise.all([
      allowed.teams ? client.teams.list(query) : undefined,
      allowed.runs ? client.runs.list(query) : undefined,
    ]);
    return [
      ...(teams?.teams ?? []).map(({ id, label }) => ({
        kind: "Team" as const,
        href: `/teams/${id}`,
        name: label ?? id,
        detail: label === null ? "" : id,
      })),
      ...(runs?.runs ?? []).map(({ id, team_id, task, answer, error }) => ({
        kind: "Run" as const,
        href: `/teams/${team_id}/runs/${id}`,
        name: task === null ? id : preview(task),
        detail: answer ? preview(answer.text) : error ? reasonOf(error) : "",
      })),
    ];
  });
  const pages = PAGES.filter(
    ([page, , name]) => allowed[page] && name.toLowerCase().includes(text.toLowerCase()),
  ).map(([, href, name]): Found => ({ kind: "Page", href, name, detail: "" }));
  return [...pages, ...items];
}

interface FoundMessages {
  messages: readonly Found[];
  /** The number of searched teams, if there are others. */
  searched?: number;
}

/** Messages, by their teams. @param open the team that is open, which is searched further back */
function useMessages(text: string, whoami: WhoAmI, open: string | undefined): FoundMessages {
  const client = useTroupe();
  const { teams: allowed } = pagesOf(whoami);
  const own = useSearch(text, TYPING_MS, NOTHING, async (): Promise<readonly Found[]> => {
    if (open === undefined) return NOTHING;
    const { messages } = await client.team(open).findMessages({ q: text, limit: MOST });
    return messages.map((message) => foundMessage(open, "This team", message));
  });
  const others = useSearch(text, LONGER_MS, NO_MESSAGES, async (): Promise<FoundMessages> => {
    if (!allowed) return NO_MESSAGES;
    const found = await client.messages.search({ q: text, limit: MOST_MESSAGES });
    const messages = found.messages
      .filter(({ team_id }) => team_id !== open)
      .map((message) => foundMessage(message.team_id, message.team_label, message));
    const more = found.next_cursor !== null;
    return { messages, ...(more && { searched: found.searched_teams.length }) };
  });
  return { ...others, messages: [...own, ...others.messages] };
}

const NOTHING: readonly never[] = [];
const NO_MESSAGES: FoundMessages = { messages: NOTHING };

function foundMessage(
  id: string,
  label: string | null,
  { turn, source, excerpt }: { turn: number; source: string; excerpt: string },
): Found {
  const href = placeInConversation(id, turn);
  const detail = preview(excerpt);
  return { kind: "Message", href, name: source, detail, team: { id, name: label ?? id } };
}

/** The result once typing pauses; `none` before, and if the search fails. */
function useSearch<T>(text: string, pauseMs: number, none: T, search: () => Promise<T>): T {
  const [found, setFound] = useState(none);
  const latest = useRef(search);
  latest.current = search;
  useEffect(() => {
    setFound(none);
    if (text === "") return undefined;
    let current = true;
    const load = async (): Promise<void> => {
      const result = await latest.current().catch(() => none);
      if (current) setFound(result);
    };
    const timer = setTimeout(() => void load(), pauseMs);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text, pauseMs, none]);
  return found;
}
