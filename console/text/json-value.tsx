import { counted } from "../parts/numbers.ts";
import { useState } from "react";
import { visibleCode, visibleName } from "./foreign.ts";
import { printedJson } from "./printed-json.ts";

const SHOWN = 50;
/** Deeper values are folded at first. */
const UNFOLDED = 3;
/** Longer lists inside of another value are folded at first. */
const LONG = 20;

interface JsonValueProps {
  value: unknown;
  depth?: number;
}

/** A JSON value as keys and values. */
export function JsonValue({ value, depth = 0 }: JsonValueProps) {
  if (typeof value !== "object" || value === null) return <Scalar value={value} />;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="muted">{isList ? "empty list" : "empty"}</span>;
  const line = isList ? printedJson(value) : "\n";
  if (!line.includes("\n")) return <code className="json-line">{visibleCode(line)}</code>;
  const items = <Entries entries={entries} isList={isList} depth={depth} />;
  if (depth < UNFOLDED && !(isList && depth > 0 && entries.length > LONG)) return items;
  const count = isList ? counted(entries.length, "item") : counted(entries.length, "field");
  return (
    <details className="json-fold">
      <summary>{count}</summary>
      {items}
    </details>
  );
}

interface EntriesProps {
  entries: readonly (readonly [string, unknown])[];
  isList: boolean;
  depth: number;
}

function Entries({ entries, isList, depth }: EntriesProps) {
  const [whole, setWhole] = useState(false);
  const visible = whole ? entries : entries.slice(0, SHOWN);
  return (
    <>
      <dl className="json" data-list={isList}>
        {visible.map(([name, value]) => (
          <div key={name} data-nested={typeof value === "object" && value !== null}>
            <dt>{isList ? Number(name) + 1 : visibleName(name)}</dt>
            <dd>
              <JsonValue value={value} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {visible.length < entries.length && (
        <button className="button small" type="button" onClick={() => setWhole(true)}>
          Show all {entries.length}
        </button>
      )}
    </>
  );
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === "string") {
    return (
      <span className="json-text" dir="auto">
        {value === "" ? <span className="muted">empty text</span> : visibleCode(value)}
      </span>
    );
  }
  return <span className="json-literal">{String(value)}</span>;
}

/** The object or list that a text is as JSON; undefined for other texts and large ones. */
export function jsonIn(text: string): object | undefined {
  if (text.length > 200_000 || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
