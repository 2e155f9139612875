import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { TurnInfo } from "troupe/client";
import type { TeamView } from "troupe/react";
import { Icon } from "../parts/icon.tsx";
import { usePrinting } from "../hooks/use-printing.ts";
import { isLoaded, placeIn, useWantedPlace } from "../reading/wanted.ts";
import { Cards, type EndedRun, type ConversationEntry, withEnds } from "./entries.ts";
import { CutOffs, withCutOffs } from "./cut-offs.ts";
import { EntryRow } from "./entry-row.tsx";
import { type Doing, withPresent } from "./live.ts";
import { LiveLine } from "./live-line.tsx";
import { type CardNumbers, numbersOf, speakersOf } from "./numbers.ts";

interface ConversationProps {
  team: TeamView;
  teamId: string;
  /** The finished turns by the ids of their messages. */
  turns: ReadonlyMap<string, TurnInfo>;
  /** The runs whose end is marked. */
  ended: readonly EndedRun[];
  /** Agents whose messages are output of code. */
  printers: ReadonlySet<string>;
  /** The name under which the team's manager speaks, if it does. */
  manager: string | undefined;
}

/** The distance from the end within which it follows new messages. */
const END_PX = 80;
/** The assumed height of a row before it is measured. */
const ROW_PX = 110;

/** The messages from the last one backwards. Only visible rows are rendered, and earlier pages load when they become visible. */
export function Conversation(props: ConversationProps) {
  const { team, teamId, turns, ended, printers, manager } = props;
  const { messages, texts, activity, connected, hasEarlier, loadEarlier, loadBackTo } = team;
  // Without a connection, the page does not know what the team does now.
  const run = connected ? team.run : null;
  const [keys] = useState(() => new Map<string, string>());
  // Texts change with each frame, messages do not.
  const cards = useMemo(
    () => new Cards(messages, { printers, keys, hasEarlier }),
    [messages, printers, keys, hasEarlier],
  );
  const [cutOffs] = useState(() => new CutOffs());
  const cut = cutOffs.next(team);
  const said = useMemo(
    () => withCutOffs(withEnds(cards.entries, ended), cut, printers),
    [cards, ended, cut, printers],
  );
  const speakers = useMemo(() => speakersOf(messages), [messages]);
  const { entries, lines } = useMemo(
    () => withPresent(said, cards, { texts, activity, run, manager }),
    [said, cards, texts, activity, run, manager],
  );
  const ahead = useMemo(
    () => (activity === null ? 0 : Date.parse(activity.at) - Date.now()),
    [activity],
  );
  const soon = soonOf(run);
  const doing = useSame(lines);
  const numbers = (entry: ConversationEntry): CardNumbers | undefined =>
    entry.kind === "card" ? numbersOf(entry, turns, speakers) : undefined;
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const wanted = useWantedPlace();
  const printing = usePrinting();
  const list = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => entries[index]?.key ?? index,
    overscan: 3,
    // The rows at the end are the first ones.
    initialOffset: () => (wanted === undefined ? entries.length * ROW_PX : 0),
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_PX,
    paddingStart: 16,
    paddingEnd: 16,
  });

  const shown = entries.length > 0;
  useEffect(() => {
    if (shown && wanted === undefined) list.scrollToEnd();
  }, [list, shown, wanted]);
  const place = wanted === undefined ? -1 : placeIn(said, wanted);
  const goal = wanted && `${wanted.kind} ${wanted.n}`;
  const loaded = wanted === undefined || isLoaded(messages, hasEarlier, wanted);
  const reached = useRef<string>(undefined);
  useEffect(() => {
    if (wanted === undefined || !shown || reached.current === goal) return;
    if (!loaded) {
      const load = wanted.kind === "message" ? loadBackTo(wanted.n) : loadEarlier();
      load.catch(() => undefined);
      return;
    }
    reached.current = goal;
    const align = wanted.kind === "message" && wanted.text !== "" ? "center" : "start";
    list.scrollToIndex(place < 0 ? entries.length - 1 : place, { align });
    // With each page: one of a turn is followed by the next until the turn is there.
  }, [list, shown, goal, place, loaded, messages, loadEarlier, loadBackTo]);

  const row = (entry: ConversationEntry) => (
    <EntryRow
      key={entry.key}
      entry={entry}
      teamId={teamId}
      numbers={numbers(entry)}
      doing={doing(entry.key)}
      ahead={ahead}
      soon={soon}
      onRetry={team.retry}
    />
  );
  const teamLine = doing("");
  const items = list.getVirtualItems();
  const first = items[0]?.index;
  useEffect(() => {
    // A page that failed to load is requested again on the next scroll. After one whose messages are all part of the first card,
    // the next one is due without a scroll.
    if (hasEarlier && first !== undefined && first < 10) loadEarlier().catch(() => undefined);
  }, [hasEarlier, loadEarlier, first, messages]);

  return (
    <div className="conversation-frame">
      <h2 className="hidden">Conversation</h2>
      <div
        ref={scroller}
        className="conversation"
        role="log"
        aria-label="Conversation"
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget }) => setAtEnd(isAtEnd(currentTarget))}
      >
        {printing ? (
          <div className="rows">{entries.map(row)}</div>
        ) : (
          <div className="rows" style={{ height: list.getTotalSize() }}>
            {items.map((item) => {
              const entry = entries[item.index];
              return (
                entry && (
                  <div
                    key={item.key}
                    ref={list.measureElement}
                    data-index={item.index}
                    data-found={
                      wanted?.text !== undefined && wanted.text !== "" && item.index === place
                    }
                    className="row"
                    style={{ transform: `translateY(${item.start}px)` }}
                  >
                    {row(entry)}
                  </div>
                )
              );
            })}
          </div>
        )}
      </div>
      {teamLine !== undefined && (
        <div className="team-line">
          <LiveLine doing={teamLine} ahead={ahead} soon={soon} />
        </div>
      )}
      {!atEnd && shown && (
        <button
          className="button to-end"
          type="button"
          onClick={() => list.scrollToEnd({ behavior: "smooth" })}
        >
          <Icon name="down" />
          Latest
        </button>
      )}
    </div>
  );
}

/** The words for a pause or cancellation that waits for the end of the step or turn. */
function soonOf(run: TeamView["run"]): string | undefined {
  if (run?.status !== "running") return undefined;
  if (run.stop_requested === "after_turn") return "stopping after this turn";
  return run.pause_requested ? "pausing after this step" : undefined;
}

/** The lines by the keys of their cards. A line that says the same stays the same object. */
function useSame(lines: ReadonlyMap<string, Doing>): (key: string) => Doing | undefined {
  const last = useRef(new Map<string, Doing>());
  const next = new Map<string, Doing>();
  for (const [key, doing] of lines) {
    const before = last.current.get(key);
    next.set(key, before && JSON.stringify(before) === JSON.stringify(doing) ? before : doing);
  }
  last.current = next;
  return (key) => next.get(key);
}

function isAtEnd({ scrollHeight, scrollTop, clientHeight }: Element): boolean {
  return scrollHeight - scrollTop - clientHeight < END_PX;
}
