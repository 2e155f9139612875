import { memo, useId } from "react";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Avatar, Name } from "../parts/name.tsx";
import { visibleName } from "../text/foreign.ts";
import type { Activity } from "./activity.ts";
import { type Layout, pathThrough } from "./layout.ts";
import type { Mark } from "./marks.ts";
import { MANAGER, type Picture, type PictureEdge, type PictureNode, TASK } from "./picture.ts";
import type { Progress } from "./progress.ts";
import { useView } from "./use-view.ts";

interface DrawingProps {
  picture: Picture;
  layout: Layout;
  progress: Progress;
  activity: Activity;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** The nodes and edges of a picture, moved and zoomed by mouse, fingers and keys. */
export function Drawing({ picture, layout, progress, activity, selected, onSelect }: DrawingProps) {
  const view = useView(layout);
  const { width, height, places, routes } = layout;
  const { running, waiting } = activity;
  const { latest, last = TASK } = progress;
  const isLive = ({ id, from, to }: PictureEdge): boolean =>
    running.has(to) && (latest.has(id) || from === last || from === MANAGER) && from !== to;
  const taken = (id: string): number => progress.taken.get(id) ?? 0;
  return (
    <div className="drawing">
      <div
        ref={view.frame}
        className="drawing-frame"
        role="group"
        aria-label="Picture of the team: arrow keys move it, plus and minus zoom, 0 shows all of it"
        tabIndex={0}
        onKeyDown={view.onKeyDown}
        onPointerDown={view.onPointerDown}
        onPointerMove={view.onPointerMove}
        onPointerUp={view.onPointerUp}
        onPointerCancel={view.onPointerUp}
      >
        <div className="drawing-content" style={{ transform: view.transform, width, height }}>
          <svg width={width} height={height} aria-hidden="true">
            <Arrows />
            {picture.edges.map((edge) => (
              <Line
                key={edge.id}
                path={pathThrough(routes.get(edge.id)?.points ?? [])}
                taken={taken(edge.id) > 0}
                live={isLive(edge)}
              />
            ))}
          </svg>
          {picture.edges.map((edge) => {
            const label = routes.get(edge.id)?.label;
            return label && <Label key={edge.id} edge={edge} count={taken(edge.id)} {...label} />;
          })}
          {picture.nodes.map((node) => {
            const place = places.get(node.id);
            return (
              place && (
                <div
                  key={node.id}
                  className="node-place"
                  style={{
                    left: place.x - place.width / 2,
                    top: place.y - place.height / 2,
                    width: place.width,
                    height: place.height,
                  }}
                >
                  <Node
                    node={node}
                    state={running.has(node.id) ? "running" : waiting.has(node.id) ? "waiting" : ""}
                    spoken={progress.spoken.get(node.id) ?? 0}
                    selected={selected === node.id}
                    onSelect={onSelect}
                  />
                </div>
              )
            );
          })}
        </div>
      </div>
      <div className="drawing-buttons">
        <ViewButton icon="plus" name="Zoom in" onClick={() => view.zoom(1.25)} />
        <ViewButton icon="minus" name="Zoom out" onClick={() => view.zoom(0.8)} />
        <ViewButton icon="fit" name="Show all of it" onClick={view.fit} />
      </div>
    </div>
  );
}

function ViewButton(props: { icon: IconName; name: string; onClick: () => void }) {
  const { icon, name, onClick } = props;
  return (
    <button
      className="button icon-only"
      type="button"
      aria-label={name}
      title={name}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** The heads of the lines. Their ids hold for the page: no more than one drawing is on it. */
function Arrows() {
  return (
    <defs>
      {(["idle", "taken"] as const).map((state) => (
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

const Line = memo(function Line(props: { path: string; taken: boolean; live: boolean }) {
  const { path, taken, live } = props;
  return (
    <path
      className="way"
      data-taken={taken}
      data-live={live}
      d={path}
      markerEnd={`url(#arrow-${taken || live ? "taken" : "idle"})`}
    />
  );
});

interface LabelProps {
  edge: PictureEdge;
  count: number;
  x: number;
  y: number;
}

/** What is written at an edge: its condition, and how often it was taken. The list says the same in words. */
const Label = memo(function Label({ edge, count, x, y }: LabelProps) {
  const { condition, decidedBy, any } = edge;
  const text = condition || (decidedBy && `${decidedBy}()`);
  if (text === "" && count === 0 && !any) return null;
  return (
    <span
      className="edge-label"
      aria-hidden="true"
      data-taken={count > 0}
      title={visibleName(text)}
      style={{ left: x, top: y }}
    >
      {text !== "" && <Name name={text} />}
      {any && <i>any</i>}
      {count > 0 && <b>{count}</b>}
    </span>
  );
});

interface NodeProps {
  node: PictureNode;
  state: "running" | "waiting" | "";
  spoken: number;
  selected: boolean;
  onSelect: (id: string) => void;
}

const STATES = { running: ", works now", waiting: ", waits for you", "": "" } as const;

const Node = memo(function Node({ node, state, spoken, selected, onSelect }: NodeProps) {
  const { id, kind, name, marks, inner } = node;
  const hint = useId();
  if (kind === "task") return <span className="node task">Task</span>;
  return (
    <button
      className={`node ${kind}`}
      type="button"
      data-state={state}
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
            <span className="node-mark" title="A team of its own">
              <Icon name="people" />
              <span className="hidden">A team of its own</span>
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

/** `once`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
