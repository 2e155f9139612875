import { useId } from "react";
import { fieldsOf, listOf, textOf } from "../picture/component-json.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { type FieldsProps, NumberField } from "../inputs/settings-fields.tsx";
import { nameOf, toolPaths } from "../component/parts.ts";
import { valueAt, withValue } from "../component/value-path.ts";
import { at } from "../inputs/wanted.ts";
import { NamesField } from "./names-field.tsx";

/** The most tools that a search finds, unless `k` says otherwise. */
const USUAL_K = 8;

/** Searching for tools, for agents with many of them. */
export function ToolSearchField(props: Omit<FieldsProps, "catalogue">) {
  const { component, path, onChange } = props;
  const id = useId();
  const place = [...path, "config", "tool_search"];
  const value = valueAt(component, place);
  const isOn = value === true || (typeof value === "object" && value !== null);
  const list = [...place, "always"];
  const always = listOf(fieldsOf(value)["always"]).map(textOf);
  const change = (next: readonly string[]): void =>
    onChange(withValue(component, list, next.length === 0 ? undefined : next));
  return (
    <div className="stack" {...at(place)}>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) =>
            onChange(withValue(component, place, target.checked ? true : undefined))
          }
        />
        Search tools if there are more than 20
      </label>
      {!isOn && <MistakesAt path={place} id={`${id}-search`} />}
      {isOn && (
        <>
          <NamesField
            path={list}
            title="Tools that are always offered"
            icon="tool"
            none="None: the model searches for each tool."
            label="Always offer"
            names={always}
            offered={toolPaths(component, path).map((one) => nameOf(valueAt(component, one)))}
            removal={(name) => `Do not always offer ${name}`}
            onAdd={(name) => change([...always, name])}
            onRemove={(index) => change(always.toSpliced(index, 1))}
          />
          <NumberField
            component={component}
            path={[...place, "k"]}
            label="Most tools that a search finds"
            usual={USUAL_K}
            onChange={onChange}
          />
        </>
      )}
    </div>
  );
}
