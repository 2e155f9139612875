import { diffLines } from "diff";
import { visibleCode, visibleName } from "../text/foreign.ts";

interface ChangesProps {
  before: object;
  after: object;
}

/** Texts with more lines are not compared line by line. */
const MOST_LINES = 2_000;

/** The changed lines of each value. */
export function Changes({ before, after }: ChangesProps) {
  const old = before as { [key: string]: unknown };
  const now = after as { [key: string]: unknown };
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const changed = keys.filter((key) => textOf(old[key]) !== textOf(now[key]));
  if (changed.length === 0) return <p className="muted">No changes yet.</p>;
  return (
    <dl className="changes" aria-label="Changes">
      {changed.map((key) => (
        <div key={key}>
          <dt>
            <code>{visibleName(key)}</code>
          </dt>
          <dd>
            <Lines before={textOf(old[key])} after={textOf(now[key])} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Lines({ before, after }: { before: string; after: string }) {
  const parts = differences(before, after);
  return (
    <pre className="diff" tabIndex={0} dir="ltr">
      {parts.map(({ value, added, removed }, index) => {
        const Tag = added ? "ins" : removed ? "del" : "span";
        const sign = added ? "+ " : removed ? "− " : "  ";
        const lines = value.replace(/\n$/, "").split("\n");
        return (
          <Tag key={index}>{lines.map((line) => `${sign}${visibleCode(line)}\n`).join("")}</Tag>
        );
      })}
    </pre>
  );
}

interface Difference {
  value: string;
  added: boolean;
  removed: boolean;
}

function differences(before: string, after: string): Difference[] {
  if (before.split("\n").length + after.split("\n").length > MOST_LINES) {
    return [
      { value: before, added: false, removed: true },
      { value: after, added: true, removed: false },
    ];
  }
  // Each text ends with a line, so that its last one equals the same line elsewhere.
  return diffLines(`${before}\n`, `${after}\n`);
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
