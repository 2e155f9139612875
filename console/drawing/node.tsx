import { memo, useId } from "react";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Avatar, Name } from "../parts/name.tsx";
import type { Mark } from "../picture/marks.ts";
import type { PictureNode } from "../picture/picture.ts";
import { visibleName } from "../text/foreign.ts";
import { times } from "../picture/progress.ts";

interface NodeProps {
  node: PictureNode;
  state: "running" | "waiting" | "";
  spoken: number;
  selected: boolean;
  wrong: boolean;
  /** A sentence about a node that never speaks. */
  silent: string | undefined;
  onSelect: (id: string) => void;
}

const STATES = { running: ", working", waiting: ", waiting for you", "": "" } as const;

export const Node = memo(function Node(props: NodeProps) {
  const { node, state, spoken, selected, wrong, silent, onSelect } = props;
  const { id, kind, name, marks, inner } = node;
  const hint = useId();
  if (kind === "task") return <span className="node task">Task</span>;
  return (
    <button
      className={`node ${kind}`}
      type="button"
      data-state={state}
      data-wrong={wrong}
      data-silent={silent !== undefined}
      aria-pressed={selected}
      aria-describedby={hint}
      onClick={() => onSelect(id)}
    >
      {kind === "manager" ? <Icon name="people" /> : <Avatar source={name} />}
      <span className="node-text">
        <strong>
          <Name name={name} />
        </strong>
        <span className="node-marks" id={hint}>
          {marks.map((mark) => (
            <MarkSign key={mark.kind} mark={mark} />
          ))}
          {inner !== undefined && (
            <span className="node-mark" title="Contains a team">
              <Icon name="people" />
              <span className="hidden">Contains a team</span>
            </span>
          )}
          {wrong && (
            <span className="node-mark node-wrong" title="Has mistakes">
              <Icon name="warning" />
              <span className="hidden">Has mistakes</span>
            </span>
          )}
          {silent !== undefined && (
            <span className="node-mark node-silent" title={silent}>
              <Icon name="warning" />
              <span aria-hidden="true">never speaks</span>
              <span className="hidden">{silent}</span>
            </span>
          )}
          <span className="hidden">{STATES[state]}</span>
        </span>
      </span>
      {spoken > 0 && (
        <span className="spoken" title={`Has spoken ${times(spoken)}`}>
          {spoken}
          <span className="hidden"> messages</span>
        </span>
      )}
    </button>
  );
});

const MARK_ICONS = {
  model: "spark",
  tools: "tool",
  memory: "book",
  code: "code",
  human: "person",
} as const satisfies Record<Mark["kind"], IconName>;

function MarkSign({ mark: { kind, label, text } }: { mark: Mark }) {
  return (
    <span className="node-mark" title={visibleName(text)}>
      <Icon name={MARK_ICONS[kind]} />
      {label !== "" && (
        <span className={`node-mark-${kind}`} aria-hidden="true">
          <Name name={label} />
        </span>
      )}
      <span className="hidden">{visibleName(text)}. </span>
    </span>
  );
}
