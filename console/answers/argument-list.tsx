import { useState } from "react";
import { counted } from "../parts/numbers.ts";
import { visibleCode, visibleName } from "../text/foreign.ts";
import { CodeBlock } from "../text/code-block.tsx";
import { JsonValue } from "../text/json-value.tsx";
import { isStated } from "./stated.ts";

interface ArgumentListProps {
  value: object;
  /** The whole task of the run; undefined where it is not known, so that nothing is marked. */
  task?: string | undefined;
}

/** A longer text, or one with several lines, is folded. */
const LONG = 100;

/** The arguments of a call as keys and values. Values that are not in the task are marked. */
export function ArgumentList({ value, task }: ArgumentListProps) {
  const [asJson, setAsJson] = useState(false);
  const entries = Object.entries(value);
  return (
    <div className="arguments">
      {asJson ? (
        <CodeBlock code={JSON.stringify(value, null, 2)} language="json" />
      ) : entries.length === 0 ? (
        <span className="muted">Without arguments</span>
      ) : (
        <dl aria-label="Arguments">
          {entries.map(([name, one]) => (
            <div key={name}>
              <dt>{visibleName(name)}</dt>
              <dd>
                <Argument value={one} task={task} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {entries.length > 0 && (
        <button
          className="link-button"
          type="button"
          aria-pressed={asJson}
          onClick={() => setAsJson(!asJson)}
        >
          JSON
        </button>
      )}
    </div>
  );
}

function Argument({ value, task }: { value: unknown; task: string | undefined }) {
  const unstated = task !== undefined && !isAllStated(value, task);
  const mark = unstated && (
    <span className="unstated-note">
      <span aria-hidden>?</span>
      <span className="hidden"> (not in the task)</span>
    </span>
  );
  if (typeof value === "object" && value !== null) {
    const count = Object.keys(value).length;
    return (
      <details className="argument-fold" data-unstated={unstated} title={titleOf(unstated)}>
        <summary>
          {counted(count, Array.isArray(value) ? "item" : "field")}
          {mark}
        </summary>
        <JsonValue value={value} />
      </details>
    );
  }
  const text = String(value);
  if (text.length > LONG || text.includes("\n")) {
    const [line = ""] = text.trim().split("\n");
    return (
      <details className="argument-fold" data-unstated={unstated} title={titleOf(unstated)}>
        <summary>
          <span className="argument-line">{visibleName(line)}</span>
          {mark}
        </summary>
        <pre tabIndex={0} dir="auto">
          {visibleCode(text)}
        </pre>
      </details>
    );
  }
  return (
    <span className="argument" data-unstated={unstated} title={titleOf(unstated)} dir="auto">
      {text === "" ? <span className="muted">empty text</span> : visibleCode(text)}
      {mark}
    </span>
  );
}

function titleOf(unstated: boolean): string | undefined {
  return unstated ? "The task does not contain this value." : undefined;
}

/** True if the task has all texts and numbers of a value. */
function isAllStated(value: unknown, task: string): boolean {
  if (typeof value !== "object" || value === null) return isStated(value, task);
  return Object.values(value).every((one) => isAllStated(one, task));
}
