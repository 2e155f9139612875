import { createHash } from "node:crypto";

/** A part of a state, taken apart. */
export interface StatePart {
  header: { state: string; turn: number; part: number; cursor: string | null };
  rows: Row[];
  next: string | null;
}

export type Row = { type: string; path?: string; body: unknown } & Record<string, unknown>;

export function readPart(text: string): StatePart {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  const [header, end] = [lines.shift(), lines.pop()] as unknown[];
  return {
    header: header as StatePart["header"],
    rows: lines,
    next: (end as { next_cursor: string | null }).next_cursor,
  };
}

/** Its lines, with the hash that belongs to them. */
export function* partLines({
  header,
  rows,
  next,
}: Omit<StatePart, "rows"> & { rows: Iterable<Row> }): Generator<string> {
  let hash = "";
  let lines = -1;
  const line = (value: object): string => {
    const text = JSON.stringify(value);
    hash = createHash("sha256")
      .update(hash + text)
      .digest("hex");
    lines++;
    return `${text}\n`;
  };
  yield line(header);
  for (const row of rows) yield line(row);
  yield `${JSON.stringify({ type: "end", lines, hash, next_cursor: next })}\n`;
}

export function writePart(part: StatePart): string {
  return [...partLines(part)].join("");
}
