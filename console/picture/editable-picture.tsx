import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useDeferredValue,
  useMemo,
  useState,
} from "react";
import type { Message } from "troupe/client";
import type { TeamView } from "troupe/react";
import { withHandoff, withoutParticipant, namesIn, handsOver } from "../component/edits.ts";
import type { EditorSubject } from "../editor/editor-panel.tsx";
import { graphOf, withEdge } from "../component/graph.ts";
import { EditorTools } from "../editor/editor-tools.tsx";
import { innerPath, nodePlace } from "../component/parts.ts";
import { isWithin, type ValuePath, valueAt } from "../component/value-path.ts";
import type { Checked } from "../editor/use-checked.ts";
import type { Draft } from "../editor/use-draft.ts";
import { Name } from "../parts/name.tsx";
import { visibleName } from "../text/foreign.ts";
import { activityIn } from "./activity.ts";
import { configOf, type UncheckedComponent } from "./component-json.ts";
import { Drawing } from "./drawing.tsx";
import { InWords } from "./in-words.tsx";
import { layoutOf } from "./layout.ts";
import { NodeDetails } from "./node-details.tsx";
import { pictureOf, type PictureNode, withEdges } from "./picture.ts";
import { progressOf } from "./progress.ts";

const EditorPanel = lazy(() => import("../editor/editor-panel.tsx"));

const MOST_NODES = 250;
const MOST_EDGES = 1_000;

/** The present activity in the team. */
export type Happening = Pick<TeamView, "status" | "texts" | "requests">;

interface EditablePictureProps {
  /** The name of the outermost team. */
  label: string;
  draft: Draft;
  checked: Checked;
  mayEdit: boolean;
  /** The messages of the last run. */
  messages: readonly Message[];
  now: Happening;
  /** A link beside the tools. */
  tools?: ReactNode;
  /** Below the picture: what saves its changes. */
  bar: (show: (path: ValuePath) => void) => ReactNode;
  /** Notes below it, on the team that is shown and the participants around it. */
  notes: (shown: { component: UncheckedComponent; within: readonly string[] }) => ReactNode;
}

interface Opened {
  name: string;
  participant: string;
  place: ValuePath;
}

/** A node by its place and its name: another change may move or rename it. */
interface Selection {
  id: string;
  name: string;
}

function nodeOf(nodes: readonly PictureNode[], selection: Selection): PictureNode | undefined {
  const there = nodes.find(({ id }) => id === selection.id);
  if (there?.name === selection.name) return there;
  return nodes.find(({ name }) => name === selection.name) ?? there;
}

/** A team as a graph, with the progress of its last run, in which its agents and their connections are changed. */
export function EditablePicture(props: EditablePictureProps) {
  const { label, draft, checked, mayEdit, messages, now, tools, bar, notes } = props;
  const [opened, setOpened] = useState<readonly Opened[]>([]);
  const [selection, setSelection] = useState<Selection>();
  const [panel, setPanel] = useState<"team" | "add" | "json">();
  /** The agent from which a connection is drawn; empty while it is chosen. */
  const [connecting, setConnecting] = useState<string>();
  // The team is loaded again with each change of its status, with the same component.
  const json = JSON.stringify(draft.component);
  const own = useDeferredValue(useMemo(() => draft.component, [json]));
  const within = opened.at(-1)?.place ?? [];
  const around = useMemo(() => opened.map(({ participant }) => participant), [opened]);
  const component = useMemo(
    () => valueAt(own, within) as UncheckedComponent,
    [own, within.join(" ")],
  );
  const named = useMemo(() => pictureOf(component), [component]);
  const progress = useMemo(() => progressOf(named, messages), [named, messages]);
  // The layout changes only with new edges, not when an edge is taken.
  const ways = JSON.stringify(progress.unnamed);
  const picture = useMemo(
    () => withEdges(named, JSON.parse(ways) as [string, string][]),
    [named, ways],
  );
  // Without a run, not even the first edge was taken.
  const ran = messages.length > 0 || now.status !== "idle";
  const seen = useMemo(() => {
    const all = progressOf(picture, messages);
    return ran ? all : { ...all, taken: new Map<string, number>() };
  }, [picture, messages, ran]);
  const large = picture.nodes.length > MOST_NODES || picture.edges.length > MOST_EDGES;
  const layout = useMemo(() => (large ? undefined : layoutOf(picture)), [picture, large]);
  const activity = activityIn(picture, seen, { ...now, messages });
  const isTeam = Array.isArray(configOf(valueAt(draft.component, within))["participants"]);
  const connects =
    isTeam &&
    (graphOf(draft.component, within) !== undefined || handsOver(draft.component, within));
  const nameOf = (id: string | undefined): string =>
    picture.nodes.find((one) => one.id === id)?.name ?? "";
  const select = (id: string | undefined, next?: typeof panel, name = nameOf(id)): void => {
    setSelection(id === undefined ? undefined : { id, name });
    setPanel(next);
    setConnecting(undefined);
  };
  const show = (all: readonly Opened[]): void => {
    setOpened(all);
    select(undefined);
  };
  const node = selection && nodeOf(picture.nodes, selection);
  const path = node === undefined ? within : nodePlace(own, within, node);
  const isEdited = mayEdit && node?.kind !== "outside";
  const subject: EditorSubject | undefined =
    panel !== undefined ? { kind: panel } : node && { kind: "node", node, path };
  const open = (): void => {
    if (node?.inner === undefined) return;
    const { name: participant } = node;
    const name = visibleName(participant);
    show([...opened, { name, participant, place: innerPath(own, path) }]);
  };
  const connect = (from: string, to: string): void => {
    const change = graphOf(draft.component, within) === undefined ? withHandoff : withEdge;
    draft.change(change(draft.component, within, nameOf(from), nameOf(to)));
    select(from);
  };
  const choose = (id: string): void => {
    if (connecting === undefined) select(node?.id === id && panel === undefined ? undefined : id);
    else if (connecting === "") setConnecting(id);
    else connect(connecting, id);
  };
  const remove = (removed: PictureNode): void => {
    const index = nodePlace(draft.component, within, removed).at(-1);
    if (typeof index !== "number") return;
    draft.change(withoutParticipant(draft.component, within, index));
    select(undefined);
  };
  const onAgent = (next: Draft["component"], name: string): void => {
    draft.change(next);
    select(`participant ${namesIn(next, within).indexOf(name)}`, undefined, name);
  };
  /** Shows where a mistake is. */
  const showPlace = (wanted: ValuePath): void => {
    if (!isWithin(wanted, within)) setOpened([]);
    const found = picture.nodes.find((one) => {
      const at = nodePlace(own, within, one);
      return at.length > within.length && isWithin(wanted, at);
    });
    select(found?.id, found === undefined ? (isTeam ? "team" : "json") : undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { target, key } = event;
    const isTyping =
      target instanceof Element && target.closest("input, textarea, select") !== null;
    if (key === "Escape" && connecting !== undefined) {
      setConnecting(undefined);
    } else if (key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !isTyping) {
      const action = event.shiftKey ? draft.redo : draft.undo;
      if (action === undefined) return;
      action();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const wrong = new Set(
    picture.nodes
      .filter((one) => {
        const at = nodePlace(own, within, one);
        return (
          at.length > within.length &&
          checked.mistakes.some((mistake) => isWithin(mistake.path, at))
        );
      })
      .map(({ id }) => id),
  );

  if (layout === undefined) {
    return (
      <div className="picture-panel">
        <p className="picture-note muted">
          This team has {picture.nodes.length} participants and {picture.edges.length} connections
          between them. A picture shows at most {MOST_NODES} and {MOST_EDGES}.
        </p>
      </div>
    );
  }
  return (
    <section className="picture-panel" aria-label="Picture" onKeyDown={onKeyDown}>
      {opened.length > 0 && (
        <nav className="picture-trail" aria-label="Teams around this one">
          <button className="button quiet small" type="button" onClick={() => show([])}>
            <Name name={label} />
          </button>
          {opened.map(({ name }, index) => (
            <span key={index}>
              {"/ "}
              <button
                className="button quiet small"
                type="button"
                aria-current={index === opened.length - 1}
                onClick={() => show(opened.slice(0, index + 1))}
              >
                <Name name={name} />
              </button>
            </span>
          ))}
        </nav>
      )}
      {mayEdit && (
        <EditorTools
          draft={draft}
          team={within}
          isTeam={isTeam}
          connects={connects}
          panel={panel}
          connecting={connecting === undefined ? undefined : nameOf(connecting)}
          onPanel={(next) => select(undefined, next === panel ? undefined : next)}
          onConnect={() =>
            setConnecting(
              connecting === undefined ? (node?.kind === "participant" ? node.id : "") : undefined,
            )
          }
        >
          {tools}
        </EditorTools>
      )}
      <div className="picture-body">
        <Drawing
          picture={picture}
          layout={layout}
          progress={seen}
          activity={activity}
          selected={connecting === undefined ? node?.id : connecting}
          wrong={wrong}
          onSelect={choose}
          onConnect={mayEdit && connects ? connect : undefined}
          onRemove={mayEdit && isTeam ? remove : undefined}
        />
        {subject !== undefined && isEdited && (
          <Suspense
            fallback={
              <p className="node-editor loading" role="status">
                Loading
              </p>
            }
          >
            <EditorPanel
              subject={subject}
              component={draft.component}
              team={within}
              mistakes={checked.mistakes}
              onChange={draft.change}
              onAgent={onAgent}
              onRemove={remove}
              onOpen={open}
              onClose={() => select(undefined)}
            />
          </Suspense>
        )}
      </div>
      {bar(showPlace)}
      <div className="picture-words">
        {notes({ component, within: around })}
        {node !== undefined && !isEdited && (
          <NodeDetails node={node} onOpen={open} onClose={() => select(undefined)} />
        )}
        <InWords picture={picture} progress={seen} activity={activity} />
      </div>
    </section>
  );
}
