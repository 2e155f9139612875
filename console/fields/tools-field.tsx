import { useId, useState } from "react";
import type { ComponentData } from "../component/catalogue.ts";
import { configOf, textOf } from "../picture/component-json.ts";
import { kindOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { nameOf, toolPaths, withTool } from "../component/parts.ts";
import { type ValuePath, valueAt } from "../component/value-path.ts";
import { at } from "../inputs/wanted.ts";
import { PartChoice, PartItem, partAt } from "./part-item.tsx";
import type { FieldsProps } from "../inputs/settings-fields.tsx";

interface ToolsFieldProps extends FieldsProps {
  /** Complete tools: those of the server's templates and of this team. */
  ready: readonly ComponentData[];
}

/** The tools of an agent: add, change and remove them. */
export function ToolsField({ component, path, catalogue, ready, onChange }: ToolsFieldProps) {
  const id = useId();
  const [added, setAdded] = useState<ValuePath>();
  const places = toolPaths(component, path);
  const names = new Set(places.map((one) => nameOf(valueAt(component, one))));
  const offered = ready.filter((tool) => !names.has(nameOf(tool)));
  const classes = [...catalogue.fitting("tools"), ...catalogue.fitting("workbench")].filter(
    ({ provider }) => !/\.Static\w*Workbench$/.test(provider),
  );
  const add = (chosen: string): void => {
    const tool =
      offered.find((one) => `ready ${nameOf(one)}` === chosen) ?? catalogue.empty(chosen);
    const next = withTool(component, path, tool);
    // Those of a class lack their settings.
    setAdded(chosen.startsWith("ready ") ? undefined : placeOf(next, path, tool));
    onChange(next);
  };
  return (
    <fieldset className="editor-group" {...at([...path, "config", "tools"])}>
      <legend>Tools</legend>
      {places.length === 0 && <p className="muted">This agent has no tools.</p>}
      <ul className="editor-list" aria-label="Tools">
        {places.map((place) => (
          <PartItem
            key={place.join(" ")}
            component={component}
            path={place}
            catalogue={catalogue}
            icon="tool"
            name={toolName(partAt(component, place))}
            begin={added?.join(" ") === place.join(" ")}
            onChange={onChange}
          />
        ))}
      </ul>
      <MistakesAt path={[...path, "config", "tools"]} id={`${id}-tools`} />
      <PartChoice
        label="Add a tool"
        groups={[
          {
            title: "From templates and this team",
            choices: offered.map((tool) => ({
              value: `ready ${nameOf(tool)}`,
              name: visibleName(nameOf(tool)),
            })),
          },
          {
            title: "New",
            choices: classes.map(({ provider, name }) => ({ value: provider, name })),
          },
        ]}
        onChoose={add}
      />
    </fieldset>
  );
}

/** The name of a tool, or the kind of a tool without one. */
function toolName(tool: ComponentData): string {
  return visibleName(textOf(configOf(tool)["name"]) || kindOf(tool.provider));
}

/** The path of an added tool. */
function placeOf(
  component: ComponentData,
  agent: ValuePath,
  tool: ComponentData,
): ValuePath | undefined {
  return toolPaths(component, agent).find((place) => valueAt(component, place) === tool);
}
