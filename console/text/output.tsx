import { tableIn } from "./csv.ts";
import { DataTable } from "./data-table.tsx";
import { JsonValue, jsonIn } from "./json-value.tsx";
import { LongText } from "./long-text.tsx";

/** The longest text that is read as a table. */
const LONGEST = 200_000;

/** The result of a tool: JSON as keys and values, separated values as a table, other texts as they are. */
export function Output({ text }: { text: string }) {
  const json = jsonIn(text);
  if (json !== undefined) return <JsonValue value={json} />;
  const rows = text.length <= LONGEST && !text.includes("\n\n") ? tableIn(text.trim()) : undefined;
  return rows === undefined ? <LongText text={text} /> : <DataTable rows={rows} />;
}

/** The first line about code that failed or printed nothing. */
const ENDED = /^The (?:code|script)\b[^\n]*?exit code:? (-?\d+)(?!\d)[^\n]*(?:\n|$)/;
const NO_CODE = /^There is no code to run\b/;

interface PrintedProps {
  text: string;
  /** If unknown, the text says it. */
  exitCode?: number | undefined;
}

/** The output of code, unchanged, with its exit code. */
export function Printed({ text, exitCode }: PrintedProps) {
  if (NO_CODE.test(text)) return <LongText text={text} />;
  const ended = ENDED.exec(text);
  const code = exitCode ?? (ended === null ? 0 : Number(ended[1]));
  const output = ended === null ? text : text.slice(ended[0].length);
  return (
    <div className="printed">
      <p className="printed-head" data-failed={code !== 0}>
        <span>Output</span>
        <span>exit code {code}</span>
      </p>
      {output.trim() === "" ? (
        <p className="muted">Nothing was printed.</p>
      ) : (
        <LongText text={output} />
      )}
    </div>
  );
}
