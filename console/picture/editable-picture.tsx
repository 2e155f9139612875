import { counted } from "../parts/numbers.ts";
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Message } from "troupe/client";
import { withoutParticipant, namesIn } from "../component/edits.ts";
import { connects as areConnected, withConnection } from "../component/connections.ts";
import { nodePlace } from "../component/parts.ts";
import { isWithin, type ValuePath, valueAt, withValue } from "../component/value-path.ts";
import { silentAgents } from "../component/silent-agents.ts";
import { Drawing, type Flaws as PictureFlaws } from "../drawing/drawing.tsx";
import type { EditorPanelKind, EditorSubject } from "../editor/editor-panel.tsx";
import { EditorTools } from "../editor/editor-tools.tsx";
import type { Checked } from "../editor/use-checked.ts";
import type { Draft } from "../editor/use-draft.ts";
import { useUndoKeys } from "../editor/use-undo-keys.ts";
import { stepsOf } from "../parts/json-path.ts";
import { configOf, type UncheckedComponent } from "./component-json.ts";
import { InWords } from "./in-words.tsx";
import { NodeDetails } from "./node-details.tsx";
import type { PictureEdge, PictureNode } from "./picture.ts";
import { openedNode, selectedNode, shownAt, type ShownPart } from "./shown-part.ts";
import { Trail } from "./trail.tsx";
import { type Happening, MOST_EDGES, MOST_NODES, useDrawnTeam } from "./use-drawn-team.ts";

const EditorPanel = lazy(() => import("../editor/editor-panel.tsx"));

interface EditablePictureProps {
  /** The name of the outermost team. */
  label: string;
  draft: Draft;
  checked: Checked;
  mayEdit: boolean;
  /** The place of a field that is shown at first, as the API writes it. */
  at?: string | null;
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

/** A team as a graph, with the progress of its last run, in which its agents and their connections are changed. */
export function EditablePicture(props: EditablePictureProps) {
  const { label, draft, checked, mayEdit, at, messages, now, tools, bar, notes } = props;
  const [shown, setShown] = useState<ShownPart>({ opened: [] });
  /** The agent from which a connection is drawn; empty while it is chosen. */
  const [connecting, setConnecting] = useState<string>();
  const panelElement = useRef<HTMLElement>(null);
  useUndoKeys(draft, panelElement);
  // The team is loaded again with each change of its status, with the same component.
  const json = JSON.stringify(draft.component);
  const own = useDeferredValue(useMemo(() => draft.component, [json]));
  const { opened, selection, panel, wanted } = shown;
  const within = opened.at(-1)?.place ?? [];
  const around = useMemo(() => opened.map(({ participant }) => participant), [opened]);
  const component = useMemo(
    () => valueAt(own, within) as UncheckedComponent,
    [own, within.join(" ")],
  );
  const { picture, layout, progress, activity } = useDrawnTeam(component, messages, now);
  const isTeam = Array.isArray(configOf(valueAt(draft.component, within))["participants"]);
  const connects = isTeam && areConnected(draft.component, within);
  const node = selectedNode(picture.nodes, selection);
  const edge =
    selection?.kind === "edge" && valueAt(draft.component, selection.place) !== undefined
      ? selection.place
      : undefined;
  const path = node === undefined ? within : nodePlace(own, within, node);
  const nameOf = (id: string | undefined): string =>
    picture.nodes.find((one) => one.id === id)?.name ?? "";

  const show = (next: Partial<ShownPart>): void => {
    setShown({ opened, ...next });
    setConnecting(undefined);
  };
  const select = (id: string, name = nameOf(id)): void =>
    show({ selection: { kind: "node", id, name } });
  const showPlace = (place: ValuePath): void => show(shownAt(draft.component, place));
  useEffect(() => {
    if (at != null) showPlace(stepsOf(at));
  }, [at]);

  const open = (): void => {
    if (node?.inner !== undefined) show({ opened: [...opened, openedNode(own, path, node)] });
  };
  const connect = (from: string, to: string): void => {
    draft.change(withConnection(draft.component, within, nameOf(from), nameOf(to)));
    select(from);
  };
  const choose = (id: string): void => {
    if (connecting === "") setConnecting(id);
    else if (connecting !== undefined) connect(connecting, id);
    else if (node?.id === id && panel === undefined) show({});
    else select(id);
  };
  const remove = (removed: PictureNode): void => {
    const index = nodePlace(draft.component, within, removed).at(-1);
    if (typeof index !== "number") return;
    draft.change(withoutParticipant(draft.component, within, index));
    show({});
  };
  const placeOf = ({ place = [] }: PictureEdge): ValuePath => [...within, ...place];
  const removeEdge = (place: ValuePath): void => {
    draft.change(withValue(draft.component, place, undefined));
    show({});
  };
  const onAgent = (next: Draft["component"], name: string): void => {
    draft.change(next);
    select(`participant ${namesIn(next, within).indexOf(name)}`, name);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || connecting === undefined) return;
    setConnecting(undefined);
    event.preventDefault();
    event.stopPropagation();
  };
  const wrong = new Set(
    picture.nodes
      .filter((one) => {
        const place = nodePlace(own, within, one);
        return (
          place.length > within.length &&
          checked.mistakes.some((mistake) => isWithin(mistake.path, place))
        );
      })
      .map(({ id }) => id),
  );
  const never = useMemo(() => silentAgents(own, within), [own, within.join(" ")]);
  const flaws: PictureFlaws = {
    wrong,
    silent: new Map(
      picture.nodes.flatMap(({ id, name, kind }) => {
        const { message } = (kind === "participant" && never.get(name)) || {};
        return message === undefined ? [] : [[id, message] as const];
      }),
    ),
    missing: new Map(
      picture.edges.flatMap((one) => {
        const place = one.place && placeOf(one);
        const found =
          place && checked.mistakes.find(({ path: wrongAt }) => isWithin(wrongAt, place));
        return found === undefined ? [] : [[one.id, found.message] as const];
      }),
    ),
  };
  const isEdited = mayEdit && node?.kind !== "outside";
  const subject: EditorSubject | undefined =
    panel !== undefined
      ? { kind: panel }
      : edge !== undefined
        ? { kind: "edge", path: edge }
        : node && { kind: "node", node, path };
  const edgeId = picture.edges.find(
    (one) => one.place !== undefined && String(placeOf(one)) === String(edge),
  )?.id;

  if (layout === undefined) {
    return (
      <div className="picture-panel">
        <p className="picture-note muted">
          This team has {counted(picture.nodes.length, "participant")} and{" "}
          {counted(picture.edges.length, "connection")}
          between them. A picture shows at most {MOST_NODES} and {MOST_EDGES}.
        </p>
      </div>
    );
  }
  return (
    <section
      ref={panelElement}
      className="picture-panel"
      aria-label="Picture"
      onKeyDown={onKeyDown}
    >
      <Trail label={label} opened={opened} onShow={(next) => show({ opened: next })} />
      {mayEdit && (
        <EditorTools
          draft={draft}
          team={within}
          isTeam={isTeam}
          connects={connects}
          panel={panel}
          connecting={connecting === undefined ? undefined : nameOf(connecting)}
          onPanel={(next: EditorPanelKind) => show(next === panel ? {} : { panel: next })}
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
          progress={progress}
          activity={activity}
          selected={connecting ?? (panel === undefined ? (edgeId ?? node?.id) : undefined)}
          flaws={flaws}
          onSelect={choose}
          onEdge={
            mayEdit
              ? (one) => show({ selection: { kind: "edge", place: placeOf(one) } })
              : undefined
          }
          onConnect={mayEdit && connects ? connect : undefined}
          onRemove={mayEdit && isTeam ? remove : undefined}
          onRemoveEdge={mayEdit ? (one) => removeEdge(placeOf(one)) : undefined}
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
              wanted={wanted}
              onChange={draft.change}
              onAgent={onAgent}
              onRemove={remove}
              onRemoveEdge={removeEdge}
              onShow={showPlace}
              onOpen={open}
              onClose={() => show({})}
            />
          </Suspense>
        )}
      </div>
      {bar(showPlace)}
      <div className="picture-words">
        {notes({ component, within: around })}
        {node !== undefined && !isEdited && (
          <NodeDetails node={node} onOpen={open} onClose={() => show({})} />
        )}
        <InWords picture={picture} progress={progress} activity={activity} />
      </div>
    </section>
  );
}
