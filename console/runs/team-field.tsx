import { type KeyboardEvent, useCallback, useEffect, useId, useState } from "react";
import type { ListedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded } from "../hooks/use-loaded.ts";
import { sentenceOf } from "../parts/error-words.ts";
import { visibleName } from "../text/foreign.ts";

const TYPING_MS = 150;
const MOST = 10;

interface TeamFieldProps {
  /** The id of the chosen team; empty for any team. */
  value: string;
  /** The name of the chosen team, if the page knows it. */
  name: string | undefined;
  onChange: (team: string) => void;
}

/** A field that finds a team by its name or id among all teams of the server. Empty, it offers those that were active last. */
export function TeamField({ value, name, onChange }: TeamFieldProps) {
  const [isOpen, setOpen] = useState(false);
  /** The typed text; undefined while the field has the name of the chosen team. */
  const [text, setText] = useState<string>();
  const [picked, setPicked] = useState(0);
  const list = useId();
  const chosen = useNameOf(value, name);
  const wanted = isOpen ? (text ?? "").trim() : undefined;
  const { value: found, error } = useFoundTeams(wanted);
  const teams = found?.teams ?? [];
  const active = Math.min(picked, teams.length - 1);
  const open = (): void => {
    setOpen(true);
    setPicked(0);
  };
  const close = (): void => {
    setOpen(false);
    setText(undefined);
  };
  const choose = (team: string): void => {
    close();
    if (team !== value) onChange(team);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (isOpen) setPicked((active + step + teams.length) % Math.max(1, teams.length));
      else open();
    }
    if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      close();
    }
    if (event.key !== "Enter" || !isOpen || event.nativeEvent.isComposing) return;
    event.preventDefault();
    const team = teams[active];
    // Teams that were found for another text are not what the user means.
    if (team !== undefined && found?.text === wanted) choose(team.id);
  };
  return (
    <div className="team-field">
      <input
        type="search"
        role="combobox"
        aria-label="Team"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-activedescendant={isOpen && active >= 0 ? `${list}-${active}` : undefined}
        placeholder="Any team"
        maxLength={200}
        value={text ?? chosen}
        onFocus={({ target }) => target.select()}
        onClick={() => isOpen || open()}
        onBlur={close}
        onChange={({ target }) => {
          open();
          setText(target.value);
          if (target.value === "" && value !== "") onChange("");
        }}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        // The focus stays in the field.
        <div className="team-options" onMouseDown={(event) => event.preventDefault()}>
          <ul id={list} role="listbox" aria-label="Teams">
            {teams.map(({ id, label }, index) => (
              <li
                key={id}
                id={`${list}-${index}`}
                role="option"
                aria-selected={index === active}
                onClick={() => choose(id)}
              >
                <span className="one-line">{visibleName(label ?? id)}</span>
                {label !== null && <span className="one-line muted">{id}</span>}
              </li>
            ))}
          </ul>
          <p className="muted" role="status">
            {error ? sentenceOf(error) : found && remarkOn(found)}
          </p>
        </div>
      )}
    </div>
  );
}

interface FoundTeams {
  text: string;
  teams: readonly ListedTeam[];
  hasMore: boolean;
}

function remarkOn({ text, teams, hasMore }: FoundTeams): string {
  if (teams.length === 0) return "No team has this name or ID.";
  if (!hasMore) return "";
  return text === "" ? "Type a name or ID to find others." : "More teams match.";
}

/** The teams that a text finds once typing pauses. @param text undefined while nothing is searched */
function useFoundTeams(text: string | undefined) {
  const client = useTroupe();
  const [asked, setAsked] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), text ? TYPING_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return useLoaded(
    useCallback(async (): Promise<FoundTeams | undefined> => {
      if (asked === undefined) return undefined;
      const query = { limit: MOST, ...(asked !== "" && { q: asked }) };
      const { teams, next_cursor } = await client.teams.list(query);
      return { text: asked, teams, hasMore: next_cursor !== null };
    }, [client, asked]),
  );
}

/** The name of a team, which is looked up if the page does not know it: its label, or its id. */
function useNameOf(team: string, known: string | undefined): string {
  const client = useTroupe();
  const isUnknown = team !== "" && known === undefined;
  const { value } = useLoaded(
    useCallback(async () => {
      if (!isUnknown) return undefined;
      const { teams } = await client.teams.list({ q: team, limit: MOST });
      return teams.find(({ id }) => id === team);
    }, [client, team, isUnknown]),
  );
  return visibleName(known ?? (value?.id === team ? value.label : null) ?? team);
}
