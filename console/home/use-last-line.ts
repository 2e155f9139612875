import { beginningOf } from "troupe/client";
import { useEffect, useState } from "react";
import { useTroupe } from "troupe/react";

/** The interval of look-ups while the page is visible. */
const EVERY_MS = 2_000;
const LONGEST = 200;

/** The beginning of the last message of a team, as text. */
export function useLastLine(team: string): { source: string; text: string } | undefined {
  const client = useTroupe();
  const [line, setLine] = useState<{ source: string; text: string }>();
  useEffect(() => {
    let current = true;
    const look = async (): Promise<void> => {
      if (document.visibilityState === "hidden") return;
      const before = Number.MAX_SAFE_INTEGER;
      const { messages } = await client.team(team).messages({ before, limit: 1 });
      const [last] = messages;
      if (!current || last === undefined) return;
      const content = "content" in last ? last.content : last.result.output;
      setLine({ source: last.source, text: textOf(content) });
    };
    // The line stays as it is while it cannot be loaded.
    const tryToLook = (): void => void look().catch(() => undefined);
    tryToLook();
    const timer = setInterval(tryToLook, EVERY_MS);
    return () => {
      current = false;
      clearInterval(timer);
    };
  }, [client, team]);
  return line;
}

/** Tool calls and results are named, images are left out. */
function textOf(content: unknown): string {
  if (typeof content === "string") return beginningOf(content, LONGEST);
  if (!Array.isArray(content)) return "";
  const parts = content.map((part: unknown) => {
    if (typeof part === "string") return part;
    const { name, content: result } = part as { name?: unknown; content?: unknown };
    if (typeof name !== "string") return "";
    return typeof result === "string" ? `${name} returned ${result}` : `calls ${name}`;
  });
  return beginningOf(parts.join(" "), LONGEST);
}
