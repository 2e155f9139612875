import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { TeamView } from "troupe/react";
import { useSearch } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { entriesOf, type Entry, withEnds, withTexts } from "./entries.ts";
import { EntryRow } from "./entry-row.tsx";
import type { EndedRun } from "./use-ended-runs.ts";

interface ConversationProps {
  team: TeamView;
  teamId: string;
  /** Runs whose end is marked. */
  ended: readonly EndedRun[];
  /** Agents whose messages are what code has printed. */
  printers: ReadonlySet<string>;
}

/** How far from the end it still follows what is said. */
const END_PX = 80;
/** The height of a row until it is known. */
const ROW_PX = 110;

/** The messages from the last one backwards: those in sight, and pages before them when they come into sight. */
export function Conversation({ team, teamId, ended, printers }: ConversationProps) {
  const { messages, texts, hasEarlier, loadEarlier } = team;
  // Texts change with each frame, messages do not.
  const said = useMemo(
    () => withEnds(entriesOf(messages, printers), ended),
    [messages, printers, ended],
  );
  const entries = useMemo(() => withTexts(said, texts), [said, texts]);
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const wanted = useWantedTurn();
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
  const place = wanted === undefined ? -1 : placeOfTurn(said, wanted);
  const reached = useRef<number>(undefined);
  useEffect(() => {
    if (wanted === undefined || !shown || reached.current === wanted) return;
    if (place > 0 || !hasEarlier) {
      reached.current = wanted;
      list.scrollToIndex(Math.max(0, place), { align: "start" });
    } else {
      loadEarlier().catch(() => undefined);
    }
  }, [list, shown, wanted, place, hasEarlier, loadEarlier, said]);

  const items = list.getVirtualItems();
  const first = items[0]?.index;
  useEffect(() => {
    // A page that cannot be loaded is asked for again with the next movement.
    if (hasEarlier && first !== undefined && first < 10) loadEarlier().catch(() => undefined);
  }, [hasEarlier, loadEarlier, first]);

  return (
    <div className="conversation-frame">
      <div
        ref={scroller}
        className="conversation"
        role="log"
        aria-label="Conversation"
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget }) => setAtEnd(isAtEnd(currentTarget))}
      >
        <div className="rows" style={{ height: list.getTotalSize() }}>
          {items.map((item) => {
            const entry = entries[item.index];
            return (
              entry && (
                <div
                  key={item.key}
                  ref={list.measureElement}
                  data-index={item.index}
                  className="row"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <EntryRow entry={entry} teamId={teamId} onRetry={team.retry} />
                </div>
              )
            );
          })}
        </div>
      </div>
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

/** The turn that the address asks for. */
function useWantedTurn(): number | undefined {
  const turn = new URLSearchParams(useSearch()).get("turn");
  return turn !== null && /^\d{1,9}$/.test(turn) ? Number(turn) : undefined;
}

/** The index of the first entry of this turn or a later one, or -1. Only messages of the history have a turn. */
function placeOfTurn(entries: readonly Entry[], turn: number): number {
  return entries.findIndex(
    (entry) => "message" in entry && "turn" in entry.message && Number(entry.message.turn) >= turn,
  );
}

function isAtEnd({ scrollHeight, scrollTop, clientHeight }: Element): boolean {
  return scrollHeight - scrollTop - clientHeight < END_PX;
}
