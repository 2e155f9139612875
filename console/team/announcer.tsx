import { beginningOf } from "troupe/client";
import { useEffect, useRef, useState } from "react";
import type { TeamView } from "troupe/react";
import { visibleName } from "../text/foreign.ts";
import { thoughtIn } from "../text/thought.ts";

const LONGEST = 1_000;

/** Says finished messages to screen readers, but not those that the page has opened with, nor those of the user. */
export function Announcer({ messages, status }: Pick<TeamView, "messages" | "status">) {
  const [said, setSaid] = useState("");
  const seen = useRef<string>(undefined);
  const last = messages.at(-1);
  useEffect(() => {
    if (status === "connecting") return;
    const before = seen.current;
    seen.current = last?.id ?? "";
    if (before === undefined || last === undefined || last.id === before) return;
    const text =
      "content" in last && typeof last.content === "string" ? thoughtIn(last.content).answer : "";
    if (text !== "" && last.source !== "user") {
      setSaid(`${visibleName(last.source)} says: ${beginningOf(text, LONGEST)}`);
    }
  }, [last, status]);
  return (
    <p className="hidden" aria-live="polite">
      {said}
    </p>
  );
}
