import { graphlib, layout } from "@dagrejs/dagre";
import type { Picture, PictureNode } from "../picture/picture.ts";

export interface NodeBox {
  /** The coordinates of the centre. */
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Route {
  points: readonly { x: number; y: number }[];
  /** The centre of the edge's label. */
  label: { x: number; y: number };
}

export interface Layout {
  width: number;
  height: number;
  places: ReadonlyMap<string, NodeBox>;
  routes: ReadonlyMap<string, Route>;
}

const SIZES = {
  participant: { width: 184, height: 62 },
  manager: { width: 184, height: 62 },
  outside: { width: 132, height: 40 },
  task: { width: 72, height: 30 },
} as const;

const MARGIN = 24;
/** The most participants that are drawn as a ring. More would not fit into view. */
const LARGEST_RING = 12;
const LABEL_HEIGHT = 22;
/** The width of a character in a label. */
const LETTER_WIDTH = 6.6;
const LONGEST_LABEL = 24;

/** The positions of all nodes and edges. */
export function layoutOf(picture: Picture): Layout {
  const { kind, nodes } = picture;
  const isRing = kind === "ring" && nodes.length >= 2 && nodes.length <= LARGEST_RING;
  return isRing ? ringLayout(picture) : layeredLayout(picture);
}

function layeredLayout({ kind, nodes, edges }: Picture): Layout {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 36, ranksep: 54, marginx: MARGIN, marginy: MARGIN });
  for (const node of nodes) graph.setNode(node.id, { ...SIZES[node.kind] });
  for (const { id, from, to, condition, decidedBy } of edges) {
    const letters = Math.min(LONGEST_LABEL, (condition || decidedBy).length);
    const width = letters === 0 ? 28 : letters * LETTER_WIDTH + 44;
    const label = { width, height: LABEL_HEIGHT, labelpos: "c" as const };
    graph.setEdge(from, to, label, id);
  }
  // Edges below a manager do not cross, and the participants keep their order.
  const disableOptimalOrderHeuristic = kind === "selector" || kind === "orchestrator";
  layout(graph, { disableOptimalOrderHeuristic });
  const { width = 0, height = 0 } = graph.graph();
  const places = new Map(nodes.map(({ id }) => [id, graph.node(id) as NodeBox]));
  const routes = new Map(
    edges.map(({ id, from, to }) => {
      const {
        points = [],
        x = 0,
        y = 0,
      } = graph.edge(from, to, id) as Partial<{ points: Route["points"] } & Route["label"]>;
      return [id, { points, label: { x, y } }];
    }),
  );
  // Without nodes, dagre gives a negative, infinite extent.
  const extent = { width: Math.max(2 * MARGIN, width), height: Math.max(2 * MARGIN, height) };
  return { ...extent, places, routes };
}

/** Participants in a circle, clockwise from the top; two beside each other. */
function ringLayout({ nodes, edges }: Picture): Layout {
  const { width: nodeWidth, height: nodeHeight } = SIZES.participant;
  const count = nodes.length;
  const radius = count === 2 ? 150 : Math.max(130, (count * (nodeWidth + 40)) / (2 * Math.PI));
  // Nodes are wide, so the circle is an ellipse.
  const flat = count === 2 ? 0.5 : 0.72;
  const first = count === 2 ? Math.PI : -Math.PI / 2;
  const at = (turn: number): { x: number; y: number } => {
    const angle = first + (turn * 2 * Math.PI) / count;
    return { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius * flat };
  };
  const left = -radius - nodeWidth / 2 - MARGIN;
  const top = -radius * flat - nodeHeight / 2 - MARGIN;
  const moved = ({ x, y }: { x: number; y: number }) => ({ x: x - left, y: y - top });
  const places = new Map<string, NodeBox>(
    nodes.map(({ id }: PictureNode, index) => [
      id,
      { ...moved(at(index)), width: nodeWidth, height: nodeHeight },
    ]),
  );
  const routes = new Map<string, Route>();
  for (const [index, { id, from, to }] of edges.entries()) {
    const [start, end] = [places.get(from), places.get(to)];
    if (start === undefined || end === undefined) continue;
    const between = [0.3, 0.5, 0.7].map((part) => moved(at(index + part)));
    const label = between[1] ?? moved(at(index));
    const points = [
      borderTowards(start, between[0] ?? end),
      ...between,
      borderTowards(end, between[2] ?? start),
    ];
    routes.set(id, { points, label });
  }
  return { width: -2 * left, height: -2 * top, places, routes };
}

/** The point where a line from a node's centre leaves the node. */
function borderTowards(
  { x, y, width, height }: NodeBox,
  to: { x: number; y: number },
): { x: number; y: number } {
  const [dx, dy] = [to.x - x, to.y - y];
  const scale = Math.max(Math.abs(dx) / (width / 2), Math.abs(dy) / (height / 2));
  return scale === 0 ? { x, y } : { x: x + dx / scale, y: y + dy / scale };
}

/** A smooth line through the points, as the `d` of an SVG path. */
export function pathThrough(points: Route["points"]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const number = (value: number): string => value.toFixed(1);
  const [last] = rest.slice(-1);
  const curves = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1] ?? point;
    const isEnd = index === rest.length - 2;
    const end = isEnd ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${number(point.x)} ${number(point.y)} ${number(end.x)} ${number(end.y)}`;
  });
  const straight = curves.length === 0 && last ? `L${number(last.x)} ${number(last.y)}` : "";
  return `M${number(first.x)} ${number(first.y)}${curves.join("")}${straight}`;
}
