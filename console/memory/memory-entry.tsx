import { beginningOf } from "troupe/client";
import type { Memory } from "troupe/client";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { Ago } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";
import { JsonValue } from "../text/json-value.tsx";
import { textOf } from "./memory-address.ts";

export interface MemoryActions {
  onCorrect: () => void;
  onForget: () => void;
  onForgetRun: () => void;
}

interface MemoryEntryProps {
  memory: Memory;
  /** Labels of teams by their ids. */
  labels: ReadonlyMap<string, string>;
  /** Undefined for users who may only read. */
  actions: MemoryActions | undefined;
}

export function MemoryEntry({ memory, labels, actions }: MemoryEntryProps) {
  const { content, source, score, created_at } = memory;
  const name = visibleName(beginningOf(textOf(memory), 100));
  return (
    <li className="item">
      <div className="item-main">
        {typeof content === "string" ? (
          <p className="memory-text" dir="auto">
            {content}
          </p>
        ) : (
          <JsonValue value={content} />
        )}
        <p className="muted item-facts">
          {source === null ? (
            <span>Added by a person</span>
          ) : (
            <span>
              From{" "}
              <Link href={`/teams/${source.team}`}>
                <Name name={labels.get(source.team) ?? source.team} />
              </Link>
              ,{" "}
              <Link href={`/teams/${source.team}/runs/${source.run}`}>
                run {source.run.slice(0, 8)}
              </Link>
              , <Link href={`/teams/${source.team}?turn=${source.turn}`}>turn {source.turn}</Link>
            </span>
          )}
          <Ago time={created_at} />
          {score !== undefined && <span>Score {score.toFixed(3)}</span>}
        </p>
      </div>
      {actions && (
        <div className="item-actions" role="group" aria-label={name}>
          {source !== null && (
            <button className="button small" type="button" onClick={actions.onForgetRun}>
              <Icon name="bin" />
              Delete what its run learned
            </button>
          )}
          <IconButton icon="edit" name="Edit" onClick={actions.onCorrect} />
          <IconButton icon="bin" name="Delete" onClick={actions.onForget} />
        </div>
      )}
    </li>
  );
}
