import { memo, type PointerEvent, useId, useState } from "react";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Avatar, Name } from "../parts/name.tsx";
import { saveFile } from "../parts/save-file.ts";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";
import type { Activity } from "./activity.ts";
import { type Layout, pathThrough } from "./layout.ts";
import type { Mark } from "./marks.ts";
import { MANAGER, type Picture, type PictureEdge, type PictureNode, TASK } from "./picture.ts";
import type { PictureProgress } from "./progress.ts";
import { pngOf, svgOf } from "./svg.ts";
import { useView } from "./use-view.ts";

interface DrawingProps {
  picture: Picture;
  layout: Layout;
  progress: PictureProgress;
  activity: Activity;
  selected: string | undefined;
  /** The nodes with mistakes. */
  wrong: ReadonlySet<string>;
  onSelect: (id: string) => void;
  /** Connects two participants; undefined where they cannot be connected. */
  onConnect: ((from: string, to: string) => void) | undefined;
  /** Removes a participant; undefined where it cannot be removed. */
  onRemove: ((node: PictureNode) => void) | undefined;
}

/** The nodes and edges of a picture, moved and zoomed by mouse, fingers and keys. */
export function Drawing(props: DrawingProps) {
  const { picture, layout, progress, activity, selected, wrong, onSelect } = props;
  const { onConnect, onRemove } = props;
  const view = useView(layout);
  const pull = usePull(onConnect);
  const { attempt } = useNotices();
  const save = async (format: "svg" | "png"): Promise<void> => {
    const svg = svgOf(picture, layout, progress);
    const content =
      format === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await pngOf(svg);
    saveFile(`team.${format}`, content);
  };
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
        aria-label="Picture of the team: arrow keys move it, plus and minus zoom, 0 fits it to the window"
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
                onClick={() => edge.from !== TASK && onSelect(edge.from)}
              />
            ))}
            {pull.line && <path className="way pulled" d={pathThrough(pull.line)} />}
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
                  data-node={node.kind === "task" ? undefined : node.id}
                  onKeyDown={({ key }) => {
                    if (key === "Delete" && node.kind === "participant") onRemove?.(node);
                  }}
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
                    wrong={wrong.has(node.id)}
                    onSelect={onSelect}
                  />
                  {onConnect && node.kind === "participant" && (
                    <span
                      className="node-handle"
                      title={`Drag to the agent that comes after ${visibleName(node.name)}`}
                      onPointerDown={(event) => pull.begin(event, node.id)}
                      onPointerMove={pull.move}
                      onPointerUp={pull.end}
                      onPointerCancel={pull.cancel}
                    />
                  )}
                </div>
              )
            );
          })}
        </div>
      </div>
      <div className="drawing-buttons">
        <ViewButton icon="plus" name="Zoom in" onClick={() => view.zoom(1.25)} />
        <ViewButton icon="minus" name="Zoom out" onClick={() => view.zoom(0.8)} />
        <ViewButton icon="fit" name="Fit to window" onClick={view.fit} />
        <button className="button" type="button" onClick={() => void attempt(() => save("svg"))}>
          SVG
        </button>
        <button className="button" type="button" onClick={() => void attempt(() => save("png"))}>
          PNG
        </button>
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

/** The arrow heads. Their ids are unique on the page, because it shows one drawing at a time. */
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

interface LineProps {
  path: string;
  taken: boolean;
  live: boolean;
  /** Selects the node from which it goes, whose edges are listed beside the picture. */
  onClick: () => void;
}

function Line({ path, taken, live, onClick }: LineProps) {
  return (
    <>
      <path
        className="way"
        data-taken={taken}
        data-live={live}
        d={path}
        markerEnd={`url(#arrow-${taken || live ? "taken" : "idle"})`}
      />
      <path className="way-area" data-clickable d={path} onClick={onClick} />
    </>
  );
}

interface Pull {
  /** The line from the node to the pointer, in the units of the drawing. */
  line: readonly { x: number; y: number }[] | undefined;
  begin: (event: PointerEvent, from: string) => void;
  move: (event: PointerEvent) => void;
  end: (event: PointerEvent) => void;
  cancel: () => void;
}

/** Pulls a connection from a node to another one. By keyboard, the tool above the picture does the same. */
function usePull(onConnect: DrawingProps["onConnect"]): Pull {
  const [line, setLine] = useState<Pull["line"]>();
  const [from, setFrom] = useState<string>();
  const pointOf = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    const content = currentTarget.closest(".drawing-content");
    const { left = 0, top = 0, width = 1 } = content?.getBoundingClientRect() ?? {};
    const scale = width / ((content as HTMLElement | null)?.offsetWidth ?? width);
    return { x: (clientX - left) / scale, y: (clientY - top) / scale };
  };
  const cancel = (): void => {
    setLine(undefined);
    setFrom(undefined);
  };
  return {
    line,
    begin: (event, id) => {
      event.stopPropagation();
      event.currentTarget.setPointerCapture(event.pointerId);
      const at = pointOf(event);
      setFrom(id);
      setLine([at, at]);
    },
    move: (event) => {
      const at = pointOf(event);
      setLine((last) => last && [...last.slice(0, 1), at]);
    },
    end: (event) => {
      const below = document.elementFromPoint(event.clientX, event.clientY);
      const to = below?.closest<HTMLElement>("[data-node]")?.dataset["node"];
      if (from !== undefined && to !== undefined && to !== from) onConnect?.(from, to);
      cancel();
    },
    cancel,
  };
}

interface LabelProps {
  edge: PictureEdge;
  count: number;
  x: number;
  y: number;
}

/** The label of an edge: its condition, and how often it was taken. The list below contains the same. */
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
  wrong: boolean;
  onSelect: (id: string) => void;
}

const STATES = { running: ", working", waiting: ", waiting for you", "": "" } as const;

const Node = memo(function Node(props: NodeProps) {
  const { node, state, spoken, selected, wrong, onSelect } = props;
  const { id, kind, name, marks, inner } = node;
  const hint = useId();
  if (kind === "task") return <span className="node task">Task</span>;
  return (
    <button
      className={`node ${kind}`}
      type="button"
      data-state={state}
      data-wrong={wrong}
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
