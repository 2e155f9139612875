import { useId, useState } from "react";
import type { ComponentData } from "../component/catalogue.ts";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { kindOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import { MistakesAt } from "./mistakes.tsx";
import { nameOf, toolPaths, withTool } from "../component/parts.ts";
import { isWithin, type ValuePath, valueAt, withValue } from "../component/value-path.ts";
import { at, useUnfolded } from "./wanted.ts";
import { type FieldsProps, SettingsFields } from "./settings-fields.tsx";

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
      {places.length === 0 && <p className="muted">No tools.</p>}
      <ul className="editor-list" aria-label="Tools">
        {places.map((place) => (
          <li key={place.join(" ")}>
            <Tool
              component={component}
              path={place}
              catalogue={catalogue}
              begin={added?.join(" ") === place.join(" ")}
              onChange={onChange}
            />
          </li>
        ))}
      </ul>
      <MistakesAt path={[...path, "config", "tools"]} id={`${id}-tools`} />
      <select
        aria-label="Add a tool"
        value=""
        onChange={({ target }) => {
          if (target.value !== "") add(target.value);
        }}
      >
        <option value="">Add a tool</option>
        {offered.length > 0 && (
          <optgroup label="From templates and this team">
            {offered.map((tool) => (
              <option key={nameOf(tool)} value={`ready ${nameOf(tool)}`}>
                {visibleName(nameOf(tool))}
              </option>
            ))}
          </optgroup>
        )}
        <optgroup label="New">
          {classes.map(({ provider, name }) => (
            <option key={provider} value={provider}>
              {name}
            </option>
          ))}
        </optgroup>
      </select>
    </fieldset>
  );
}

/** The path of an added tool. */
function placeOf(
  component: ComponentData,
  agent: ValuePath,
  tool: ComponentData,
): ValuePath | undefined {
  return toolPaths(component, agent).find((place) => valueAt(component, place) === tool);
}

interface ToolProps extends FieldsProps {
  /** True if its settings are unfolded at first. */
  begin: boolean;
}

function Tool({ component, path, catalogue, begin, onChange }: ToolProps) {
  const [open, setOpen] = useUnfolded(
    begin,
    (place) => place !== undefined && isWithin(place, path),
  );
  const tool = valueAt(component, path) as ComponentData;
  const name = visibleName(nameOf(tool) || kindOf(tool.provider));
  return (
    <>
      <div className="editor-item" {...at(path)}>
        <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            <Icon name="tool" />
            <span>{name}</span>
          </summary>
          {open && (
            <SettingsFields
              component={component}
              path={path}
              catalogue={catalogue}
              onChange={onChange}
            />
          )}
        </details>
        <IconButton
          small
          icon="bin"
          name={`Remove ${name}`}
          onClick={() => onChange(withValue(component, path, undefined))}
        />
      </div>
      {!open && <MistakesAt path={path} id={`${path.join("-")}-tool`} />}
    </>
  );
}
