import { useId, useState } from "react";
import { IconButton } from "../parts/icon-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { configOf, listOf, textOf } from "../picture/component-json.ts";
import { visibleName } from "../text/foreign.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import type { FieldsProps } from "../inputs/settings-fields.tsx";
import { targetOf } from "../component/parts.ts";
import { valueAt, withValue } from "../component/value-path.ts";
import { at } from "../inputs/wanted.ts";

interface HandoffsFieldProps extends Omit<FieldsProps, "catalogue"> {
  /** The other agents of its team. */
  others: readonly string[];
}

/** To whom an agent can hand the conversation over: agents of its team, or a human outside. */
export function HandoffsField({ component, path, others, onChange }: HandoffsFieldProps) {
  const id = useId();
  const [target, setTarget] = useState("");
  const list = [...path, "config", "handoffs"];
  const handoffs = listOf(valueAt(component, list));
  const targets = new Set(handoffs.map(targetOf));
  const own = textOf(configOf(valueAt(component, path))["name"]);
  const offered = others.filter((name) => name !== own && !targets.has(name));
  const add = (): void => {
    const name = target.trim();
    if (name === "" || targets.has(name)) return;
    onChange(withValue(component, list, [...handoffs, name]));
    setTarget("");
  };
  return (
    <fieldset className="editor-group" {...at(list)}>
      <legend>Handoffs</legend>
      {handoffs.length === 0 && <p className="muted">No handoffs.</p>}
      <ul className="editor-list" aria-label="Handoffs">
        {handoffs.map((handoff, index) => {
          const name = visibleName(targetOf(handoff));
          return (
            <li key={name}>
              <div className="editor-item">
                <span className="editor-target">
                  <Icon name="right" />
                  {name}
                </span>
                <IconButton
                  small
                  icon="bin"
                  name={`Remove the handoff to ${name}`}
                  onClick={() => onChange(withValue(component, [...list, index], undefined))}
                />
              </div>
            </li>
          );
        })}
      </ul>
      <MistakesAt path={list} id={`${id}-handoffs`} />
      <div className="editor-add">
        <input
          aria-label="Hand off to"
          placeholder="Hand off to"
          list={`${id}-choices`}
          value={target}
          onChange={(event) => setTarget(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <datalist id={`${id}-choices`}>
          {offered.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button className="button" type="button" disabled={target.trim() === ""} onClick={add}>
          Add
        </button>
      </div>
    </fieldset>
  );
}
