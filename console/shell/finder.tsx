import { type KeyboardEvent, useEffect, useId, useState } from "react";
import type { WhoAmI } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLocation } from "wouter";
import { Dialog } from "../dialogs/dialog.tsx";
import { placeInConversation } from "../team/place.ts";
import { visibleName } from "../text/foreign.ts";
import { pagesOf } from "./first-page.ts";

interface Found {
  kind: "Page" | "Team" | "Run" | "Message";
  href: string;
  name: string;
  /** What tells it from others. */
  detail: string;
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
  ["keys", "/keys", "Keys"],
] as const;

const TYPING_MS = 150;
const MOST = 6;

interface FinderProps {
  whoami: WhoAmI;
  onClose: () => void;
}

/** Finds pages, teams, runs by what was asked and answered in them, and messages of the team that is open. */
export default function Finder({ whoami, onClose }: FinderProps) {
  const [path, navigate] = useLocation();
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const list = useId();
  const found = useFound(text.trim(), whoami, /^\/teams\/([\w-]+)/.exec(path)?.[1]);
  const chosen = Math.min(place, found.length - 1);
  const open = (item: Found | undefined): void => {
    if (item === undefined) return;
    onClose();
    navigate(item.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setPlace((chosen + step + found.length) % Math.max(1, found.length));
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
        placeholder="Teams, runs, tasks and answers, pages"
        maxLength={200}
        data-focus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setPlace(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={list} className="found" role="listbox" aria-label="Results">
        {found.map((item, index) => (
          <li
            key={`${item.href} ${item.detail}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(item)}
          >
            <span className="muted">{item.kind}</span>
            <strong className="one-line">{visibleName(item.name)}</strong>
            <span className="one-line muted">{visibleName(item.detail)}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && text !== "" && <p className="muted">Nothing matches.</p>}
    </Dialog>
  );
}

/** @param team the one that is open */
function useFound(text: string, whoami: WhoAmI, team: string | undefined): Found[] {
  const client = useTroupe();
  const [items, setItems] = useState<readonly Found[]>([]);
  useEffect(() => {
    setItems([]);
    if (text === "") return undefined;
    let current = true;
    const pages = pagesOf(whoami);
    const load = async (): Promise<void> => {
      const query = { q: text, limit: MOST };
      const [teams, runs, said] = await Promise.all([
        pages.teams ? client.teams.list(query) : undefined,
        pages.runs ? client.runs.list(query) : undefined,
        // A conversation that cannot be searched takes nothing away from the others.
        team &&
          client
            .team(team)
            .findMessages(query)
            .catch(() => undefined),
      ]);
      if (!current) return;
      setItems([
        ...(teams?.teams ?? []).map(({ id, label }) => ({
          kind: "Team" as const,
          href: `/teams/${id}`,
          name: label ?? id,
          detail: label === null ? "" : id,
        })),
        ...(runs?.runs ?? []).map(({ id, team_id, task, answer, error }) => ({
          kind: "Run" as const,
          href: `/teams/${team_id}/runs/${id}`,
          name: task ?? id,
          detail: answer?.text ?? error?.message ?? "",
        })),
        ...((said && team ? said.messages : []) ?? []).map(({ turn, source, excerpt }) => ({
          kind: "Message" as const,
          href: placeInConversation(team ?? "", turn),
          name: source,
          detail: excerpt,
        })),
      ]);
    };
    // What cannot be loaded is not found.
    const timer = setTimeout(() => void load().catch(() => undefined), TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, text, whoami, team]);
  const allowed = pagesOf(whoami);
  const pages = PAGES.filter(
    ([page, , name]) => allowed[page] && name.toLowerCase().includes(text.toLowerCase()),
  ).map(([, href, name]): Found => ({ kind: "Page", href, name, detail: "" }));
  return [...pages, ...items];
}
