import type { EditorPanelKind } from "../editor/editor-panel.tsx";
import { innerPath, nodePlace } from "../component/parts.ts";
import { isWithin, type ValuePath, valueAt } from "../component/value-path.ts";
import { visibleName } from "../text/foreign.ts";
import { configOf, fieldsOf, textOf } from "./component-json.ts";
import { pictureOf, type PictureNode } from "./picture.ts";

/** A team inside an agent that is shown instead of the team around it. */
export interface Opened {
  name: string;
  participant: string;
  place: ValuePath;
}

/** A node by its place and its name: another change may move or rename it. An edge by its place. */
export type Selection =
  | { kind: "node"; id: string; name: string }
  | { kind: "edge"; place: ValuePath };

/** The part of a component that is shown, and selected for its form. */
export interface ShownPart {
  opened: readonly Opened[];
  selection?: Selection | undefined;
  panel?: EditorPanelKind | undefined;
  /** The field that is wanted. */
  wanted?: ValuePath | undefined;
}

export function selectedNode(
  nodes: readonly PictureNode[],
  selection: Selection | undefined,
): PictureNode | undefined {
  if (selection?.kind !== "node") return undefined;
  const there = nodes.find(({ id }) => id === selection.id);
  if (there?.name === selection.name) return there;
  return nodes.find(({ name }) => name === selection.name) ?? there;
}

/** The team inside a node, opened. */
export function openedNode(root: unknown, path: ValuePath, { name }: PictureNode): Opened {
  return { name: visibleName(name), participant: name, place: innerPath(root, path) };
}

/** The teams around a place, and the agent, the edge or the team that it belongs to. */
export function shownAt(root: unknown, wanted: ValuePath): ShownPart {
  const opened: Opened[] = [];
  for (;;) {
    const team = opened.at(-1)?.place ?? [];
    const { nodes } = pictureOf(fieldsOf(valueAt(root, team)));
    const node = nodes.find(({ kind, id }) => {
      const at = kind === "participant" ? nodePlace(root, team, { kind, id }) : undefined;
      return (
        at !== undefined && isWithin(wanted, at) && (at.length > team.length || !isTeam(root, team))
      );
    });
    if (node === undefined) return { opened, wanted, ...partOfTeam(root, team, nodes, wanted) };
    const path = nodePlace(root, team, node);
    const members = [...innerPath(root, path), "config", "participants"];
    if (node.inner === undefined || wanted.length <= members.length || !isWithin(wanted, members)) {
      return { opened, wanted, selection: { kind: "node", id: node.id, name: node.name } };
    }
    opened.push(openedNode(root, path, node));
  }
}

/** An edge, a node of the graph, or the team itself. */
function partOfTeam(
  root: unknown,
  team: ValuePath,
  nodes: readonly PictureNode[],
  wanted: ValuePath,
): Pick<ShownPart, "selection" | "panel"> {
  const list = [...team, "config", "graph", "nodes"];
  const [key, edges, index] = wanted.slice(list.length);
  if (!isWithin(wanted, list) || key === undefined) return { panel: "team" };
  if (edges === "edges" && typeof index === "number") {
    return { selection: { kind: "edge", place: wanted.slice(0, list.length + 3) } };
  }
  const name = textOf(fieldsOf(valueAt(root, [...list, key]))["name"]) || String(key);
  const node = nodes.find((one) => one.kind === "participant" && one.name === name);
  if (node === undefined) return { panel: "team" };
  return { selection: { kind: "node", id: node.id, name } };
}

function isTeam(root: unknown, team: ValuePath): boolean {
  return Array.isArray(configOf(valueAt(root, team))["participants"]);
}
