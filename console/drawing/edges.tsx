import { memo } from "react";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import type { PictureEdge } from "../picture/picture.ts";
import { visibleName } from "../text/foreign.ts";

/** The arrow heads. Their ids are unique on the page, because it shows one drawing at a time. */
export function Arrows() {
  return (
    <defs>
      {(["idle", "taken", "selected"] as const).map((state) => (
        <marker
          key={state}
          id={`arrow-${state}`}
          className={`arrow ${state}`}
          viewBox="0 0 10 10"
          refX="9"
          refY="5"
          markerWidth="9"
          markerHeight="9"
          markerUnits="userSpaceOnUse"
          orient="auto-start-reverse"
        >
          <path d="M1 1 9 5 1 9Z" />
        </marker>
      ))}
    </defs>
  );
}

interface LineProps {
  path: string;
  taken: boolean;
  live: boolean;
  selected: boolean;
  wrong: boolean;
  onClick: () => void;
}

/** The line of an edge, with a wider area for the pointer. By keyboard, its label is reached. */
export function Line({ path, taken, live, selected, wrong, onClick }: LineProps) {
  const head = selected ? "selected" : taken || live ? "taken" : "idle";
  return (
    <>
      <path
        className="way"
        data-taken={taken}
        data-live={live}
        data-selected={selected}
        data-wrong={wrong}
        d={path}
        markerEnd={`url(#arrow-${head})`}
      />
      <path className="way-area" data-clickable d={path} onClick={onClick} />
    </>
  );
}

interface EdgeLabelProps {
  edge: PictureEdge;
  /** The names of the agents at its ends. */
  from: string;
  to: string;
  count: number;
  x: number;
  y: number;
  selected: boolean;
  /** The mistake of the edge, as a sentence. */
  missing: string | undefined;
  /** Selects it; undefined if it has no form. */
  onSelect: ((edge: PictureEdge) => void) | undefined;
  onRemove: ((edge: PictureEdge) => void) | undefined;
}

/** The label of an edge: its condition, and how often it was taken. The list below contains the same. */
export const EdgeLabel = memo(function EdgeLabel(props: EdgeLabelProps) {
  const { edge, from, to, count, x, y, selected, missing, onSelect, onRemove } = props;
  const { condition, decidedBy, any } = edge;
  const text = condition || (decidedBy && `${decidedBy}()`);
  const isEmpty = text === "" && count === 0 && !any && missing === undefined;
  const content = (
    <>
      {missing !== undefined && <Icon name="warning" />}
      {text !== "" && <Name name={text} />}
      {any && <i>any</i>}
      {count > 0 && <b>{count}</b>}
    </>
  );
  const common = {
    className: isEmpty ? "edge-label empty" : "edge-label",
    "data-taken": count > 0,
    "data-wrong": missing !== undefined,
    style: { left: x, top: y },
  };
  if (onSelect === undefined || edge.place === undefined) {
    return isEmpty ? null : (
      <span {...common} aria-hidden="true" title={visibleName(text)}>
        {content}
      </span>
    );
  }
  const way = `From ${visibleName(from)} to ${visibleName(to)}`;
  const when = text === "" ? "" : `, if the message contains ${visibleName(text)}`;
  const wrong = missing === undefined ? "" : `. ${missing}`;
  return (
    <button
      {...common}
      type="button"
      aria-pressed={selected}
      title={missing ?? (visibleName(text) || way)}
      onClick={() => onSelect(edge)}
      onKeyDown={({ key }) => {
        if (key === "Delete") onRemove?.(edge);
      }}
    >
      <span className="edge-content" aria-hidden="true">
        {content}
      </span>
      <span className="hidden">{`${way}${when}${wrong}`}</span>
    </button>
  );
});
