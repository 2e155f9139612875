import { type ReactNode, useId, useState } from "react";
import { IconButton } from "../parts/icon-button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { visibleName } from "../text/foreign.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import type { ValuePath } from "../component/value-path.ts";
import { at } from "../inputs/wanted.ts";

interface NamesFieldProps {
  /** The place of the list in the component. */
  path: ValuePath;
  title: string;
  icon: IconName;
  /** Shown while the list is empty. */
  none: string;
  /** The label of the field that adds a name. */
  label: string;
  names: readonly string[];
  /** Names to choose from. Others can be typed. */
  offered: readonly string[];
  /** The name of the button that removes a name. */
  removal: (name: string) => string;
  onAdd: (name: string) => void;
  onRemove: (index: number) => void;
  /** Shown below the title. */
  children?: ReactNode;
}

/** A list of names: of agents, skills or tools. */
export function NamesField(props: NamesFieldProps) {
  const { path, title, icon, none, label, names, offered, removal, onAdd, onRemove } = props;
  const id = useId();
  const [typed, setTyped] = useState("");
  const add = (): void => {
    const name = typed.trim();
    if (name === "" || names.includes(name)) return;
    onAdd(name);
    setTyped("");
  };
  return (
    <fieldset className="editor-group" {...at(path)}>
      <legend>{title}</legend>
      {props.children}
      {names.length === 0 && <p className="muted">{none}</p>}
      <ul className="editor-list" aria-label={title}>
        {names.map((name, index) => (
          <li key={`${index} ${name}`}>
            <div className="editor-item">
              <span className="editor-target">
                <Icon name={icon} />
                {visibleName(name)}
              </span>
              <IconButton
                small
                icon="bin"
                name={removal(visibleName(name))}
                onClick={() => onRemove(index)}
              />
            </div>
          </li>
        ))}
      </ul>
      <MistakesAt path={path} id={`${id}-names`} />
      <div className="editor-add">
        <input
          aria-label={label}
          placeholder={label}
          list={`${id}-choices`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <datalist id={`${id}-choices`}>
          {offered
            .filter((name) => !names.includes(name))
            .map((name) => (
              <option key={name} value={name} />
            ))}
        </datalist>
        <button className="button" type="button" disabled={typed.trim() === ""} onClick={add}>
          Add
        </button>
      </div>
    </fieldset>
  );
}
