import { useId } from "react";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { visibleName } from "../text/foreign.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { withConnection } from "../component/connections.ts";
import { edgesFrom, entryOf, withEntry } from "../component/graph.ts";
import { Activation, Condition } from "./edge-fields.tsx";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { type ValuePath, withValue } from "../component/value-path.ts";
import { at } from "../inputs/wanted.ts";

interface EdgesFieldProps {
  component: ComponentData;
  team: ValuePath;
  /** The agent from which the edges go. */
  name: string;
  /** All agents of the team. */
  names: readonly string[];
  onChange: (component: ComponentData) => void;
}

/** The successors of an agent in a graph, and the conditions of the edges to them. */
export function EdgesField({ component, team, name, names, onChange }: EdgesFieldProps) {
  const id = useId();
  const edges = edgesFrom(component, team, name);
  return (
    <fieldset className="editor-group">
      <legend>Next agents</legend>
      {edges.length === 0 && <p className="muted">No next agent: the graph ends here.</p>}
      <ul className="editor-list" aria-label="Next agents">
        {edges.map((edge) => (
          <li key={edge.path.join(" ")}>
            <div className="editor-item" {...at(edge.path)}>
              <span className="editor-target">
                <Icon name="right" />
                {visibleName(edge.target)}
              </span>
              <IconButton
                small
                icon="bin"
                name={`Remove the edge to ${visibleName(edge.target)}`}
                onClick={() => onChange(withValue(component, edge.path, undefined))}
              />
            </div>
            <Condition component={component} edge={edge} onChange={onChange} />
            <Activation component={component} team={team} edge={edge} onChange={onChange} />
          </li>
        ))}
      </ul>
      <MistakesAt path={[...team, "config", "graph"]} id={`${id}-graph`} />
      <select
        aria-label="Add a next agent"
        value=""
        onChange={({ target }) => {
          if (target.value !== "") onChange(withConnection(component, team, name, target.value));
        }}
      >
        <option value="">Add a next agent</option>
        {names.map((one) => (
          <option key={one} value={one}>
            {visibleName(one)}
          </option>
        ))}
      </select>
    </fieldset>
  );
}

/** The agent with which a graph begins. */
export function EntryField({ component, team, names, onChange }: Omit<EdgesFieldProps, "name">) {
  return (
    <label className="field" {...at([...team, "config", "graph", "default_start_node"])}>
      <span>Start with</span>
      <select
        value={entryOf(component, team)}
        onChange={({ target }) => onChange(withEntry(component, team, target.value))}
      >
        <option value="">Every agent without incoming edges</option>
        {names.map((one) => (
          <option key={one} value={one}>
            {visibleName(one)}
          </option>
        ))}
      </select>
    </label>
  );
}
