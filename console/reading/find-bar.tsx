import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import type { TeamClient } from "troupe/client";
import { useSearchParams } from "wouter";
import { IconButton } from "../parts/icon-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { useFind } from "./use-find.ts";

interface FindBarProps {
  team: TeamClient;
  onClose: () => void;
}

/** Finds a text in the whole conversation. The address names the text and the message that is shown. */
export default function FindBar({ team, onClose }: FindBarProps) {
  const [search, setSearch] = useSearchParams();
  const [text, setText] = useState(search.get("find") ?? "");
  const wanted = text.trim();
  const { hits, complete, error } = useFind(team, wanted);
  const shown = hits.findIndex(({ seq }) => String(seq) === search.get("message"));
  const show = useCallback(
    (index: number): void => {
      const hit = hits[index];
      if (hit === undefined) return;
      setSearch(
        (last) => {
          const next = new URLSearchParams(last);
          next.delete("turn");
          next.set("find", wanted);
          next.set("message", String(hit.seq));
          return next;
        },
        { replace: true },
      );
    },
    [hits, wanted, setSearch],
  );
  const first = hits[0]?.seq;
  const showFirst = useRef(show);
  showFirst.current = show;
  useEffect(() => {
    if (first !== undefined) showFirst.current(0);
  }, [first, wanted]);
  const step = (by: number): void => {
    if (hits.length > 0) show((shown + by + hits.length) % hits.length);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onClose();
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  };
  return (
    <search className="find-bar" aria-label="Find in the conversation">
      <input
        type="search"
        aria-label="Find in the conversation"
        placeholder="Find in the whole conversation"
        maxLength={200}
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span className="muted" role="status">
        {wordsFor(wanted, hits.length, shown, complete)}
      </span>
      <IconButton
        icon="up"
        name="Earlier"
        keys="Enter"
        disabled={hits.length === 0}
        onClick={() => step(1)}
      />
      <IconButton
        icon="down"
        name="Later"
        keys="Shift+Enter"
        disabled={hits.length === 0}
        onClick={() => step(-1)}
      />
      <IconButton icon="close" name="Close" keys="Escape" onClick={onClose} />
      <Problem error={error} />
    </search>
  );
}

function wordsFor(text: string, count: number, shown: number, complete: boolean): string {
  if (text === "") return "";
  if (count === 0) return complete ? "Not found" : "Searching";
  const all = `${count}${complete ? "" : "+"}`;
  return shown < 0 ? `${all} found` : `${shown + 1} of ${all}`;
}
