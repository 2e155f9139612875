import { Icon, type IconName } from "../parts/icon.tsx";
import { saveFile } from "../parts/save-file.ts";
import type { Activity } from "../picture/activity.ts";
import {
  MANAGER,
  type Picture,
  type PictureEdge,
  type PictureNode,
  TASK,
} from "../picture/picture.ts";
import type { PictureProgress } from "../picture/progress.ts";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";
import { Arrows, EdgeLabel, Line } from "./edges.tsx";
import { type Layout, pathThrough } from "./layout.ts";
import { Node } from "./node.tsx";
import { pngOf, svgOf } from "./svg.ts";
import { usePull } from "./use-pull.ts";
import { useView } from "./use-view.ts";

/** The flaws of nodes and edges, by their ids. */
export interface Flaws {
  /** The nodes with mistakes. */
  wrong: ReadonlySet<string>;
  /** Sentences about nodes that never speak. */
  silent: ReadonlyMap<string, string>;
  /** Sentences about edges at which something is missing. */
  missing: ReadonlyMap<string, string>;
}

interface DrawingProps {
  picture: Picture;
  layout: Layout;
  progress: PictureProgress;
  activity: Activity;
  /** The id of a node or an edge. */
  selected: string | undefined;
  flaws: Flaws;
  onSelect: (id: string) => void;
  /** Selects an edge of the component; undefined where it cannot be changed. */
  onEdge: ((edge: PictureEdge) => void) | undefined;
  /** Connects two participants; undefined where they cannot be connected. */
  onConnect: ((from: string, to: string) => void) | undefined;
  /** Removes a participant; undefined where it cannot be removed. */
  onRemove: ((node: PictureNode) => void) | undefined;
  onRemoveEdge: ((edge: PictureEdge) => void) | undefined;
}

/** The nodes and edges of a picture, moved and zoomed by mouse, fingers and keys. */
export function Drawing(props: DrawingProps) {
  const { picture, layout, progress, activity, selected, flaws, onSelect } = props;
  const { onEdge, onConnect, onRemove, onRemoveEdge } = props;
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
  const names = new Map(picture.nodes.map(({ id, name }) => [id, name]));
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
                selected={selected === edge.id}
                wrong={flaws.missing.has(edge.id)}
                onClick={() => {
                  if (onEdge && edge.place) onEdge(edge);
                  else if (edge.from !== TASK) onSelect(edge.from);
                }}
              />
            ))}
            {pull.line && <path className="way pulled" d={pathThrough(pull.line)} />}
          </svg>
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
                    wrong={flaws.wrong.has(node.id)}
                    silent={flaws.silent.get(node.id)}
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
          {picture.edges.map((edge) => {
            const label = routes.get(edge.id)?.label;
            return (
              label && (
                <EdgeLabel
                  key={edge.id}
                  edge={edge}
                  from={names.get(edge.from) ?? ""}
                  to={names.get(edge.to) ?? ""}
                  count={taken(edge.id)}
                  selected={selected === edge.id}
                  missing={flaws.missing.get(edge.id)}
                  onSelect={onEdge}
                  onRemove={onRemoveEdge}
                  {...label}
                />
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
