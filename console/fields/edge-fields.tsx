import { useId } from "react";
import type { ComponentData } from "../component/catalogue.ts";
import { connectionAt, isInLoop } from "../component/connections.ts";
import { type ComponentEdge, edgesIn, withAny } from "../component/graph.ts";
import { targetOf } from "../component/parts.ts";
import { type ValuePath, valueAt, withValue } from "../component/value-path.ts";
import { fieldsOf, textOf } from "../picture/component-json.ts";
import { visibleName } from "../text/foreign.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { TextField } from "../inputs/text-field.tsx";
import { at } from "../inputs/wanted.ts";

interface EdgeFieldsProps {
  component: ComponentData;
  team: ValuePath;
  /** The place of an edge of a graph, or of a handoff. */
  path: ValuePath;
  onChange: (component: ComponentData) => void;
  onShow: (path: ValuePath) => void;
  onRemove: () => void;
}

/** The fields of an edge of a graph, or of a handoff: its condition, and its effect. */
export function EdgeFields(props: EdgeFieldsProps) {
  const { component, team, path, onChange, onRemove } = props;
  const { edge, from, to } = connectionAt(component, team, path);
  return (
    <>
      {edge === undefined ? (
        <HandoffFields {...props} />
      ) : (
        <>
          <Condition component={component} edge={edge} onChange={onChange} />
          <Activation component={component} team={team} edge={edge} onChange={onChange} />
        </>
      )}
      <footer className="node-editor-foot">
        <button className="button danger" type="button" onClick={onRemove}>
          {edge === undefined ? "Remove handoff" : "Remove edge"}
          <span className="hidden">
            {" "}
            from {visibleName(from)} to {visibleName(to)}
          </span>
        </button>
      </footer>
    </>
  );
}

interface EdgeFieldProps {
  component: ComponentData;
  edge: ComponentEdge;
  onChange: (component: ComponentData) => void;
}

/** The text that the message of an agent has to contain before an edge from it is taken. */
export function Condition({ component, edge, onChange }: EdgeFieldProps) {
  const { path, target, condition, decidedBy } = edge;
  if (decidedBy !== "") {
    return <p className="muted">The server's function {visibleName(decidedBy)} decides.</p>;
  }
  const place = [...path, "condition"];
  return (
    <TextField
      path={place}
      label={`Only if the message contains (to ${visibleName(target)})`}
      placeholder="Always"
      value={condition}
      onChange={(text) => onChange(withValue(component, place, text === "" ? undefined : text))}
    />
  );
}

/** Lets an agent wait for all edges of a group, or be started by each of them. */
export function Activation({
  component,
  team,
  edge,
  onChange,
}: EdgeFieldProps & { team: ValuePath }) {
  const edges = edgesIn(component, team);
  const { target, group, any } = edge;
  const sources = edges
    .filter((one) => one.target === target && one.group === group)
    .map(({ from }) => visibleName(from));
  const name = visibleName(target);
  if (sources.length < 2) {
    return isInLoop(edges, edge) ? (
      <p className="muted">This edge closes a loop: it starts {name} again by itself.</p>
    ) : null;
  }
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={any}
        onChange={({ target: { checked } }) => onChange(withAny(component, team, edge, checked))}
      />
      {name} starts after one of these agents, not after all: {sources.join(", ")}
    </label>
  );
}

/** The settings of a handoff. A handoff without settings is the name of its target. */
function HandoffFields({ component, path, onChange }: EdgeFieldsProps) {
  const id = useId();
  const handoff = valueAt(component, path);
  const target = targetOf(handoff);
  const settings = typeof handoff === "string" ? {} : fieldsOf(handoff);
  const set = (key: string, text: string): void => {
    const { [key]: _, target: __, ...others } = settings;
    const next = text === "" ? others : { ...others, [key]: text };
    onChange(
      withValue(component, path, Object.keys(next).length === 0 ? target : { target, ...next }),
    );
  };
  return (
    <div className="settings-fields" {...at(path)}>
      <TextField
        long
        path={[...path, "description"]}
        label="When to hand off"
        placeholder={`Handoff to ${visibleName(target)}.`}
        value={textOf(settings["description"])}
        onChange={(text) => set("description", text)}
      />
      <TextField
        long
        path={[...path, "message"]}
        label={`Message to ${visibleName(target)}`}
        placeholder={`Transferred to ${visibleName(target)}, adopting the role of ${visibleName(target)} immediately.`}
        value={textOf(settings["message"])}
        onChange={(text) => set("message", text)}
      />
      <MistakesAt path={path} own id={id} />
    </div>
  );
}
