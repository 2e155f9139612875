import type { ReactNode } from "react";
import type { ComponentData } from "../component/catalogue.ts";
import { isWithin, valueAt, withValue } from "../component/value-path.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { type FieldsProps, SettingsFields } from "../inputs/settings-fields.tsx";
import { at, useUnfolded } from "../inputs/wanted.ts";

interface PartItemProps extends FieldsProps {
  icon: IconName;
  name: string;
  /** True if its settings are unfolded at first. */
  begin: boolean;
}

/** A part in a list, such as a tool or a memory, with its settings folded. */
export function PartItem({
  component,
  path,
  catalogue,
  icon,
  name,
  begin,
  onChange,
}: PartItemProps) {
  const [open, setOpen] = useUnfolded(
    begin,
    (place) => place !== undefined && isWithin(place, path),
  );
  return (
    <li>
      <div className="editor-item" {...at(path)}>
        <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            <Icon name={icon} />
            <span>{name}</span>
          </summary>
          {open && <SettingsFields {...{ component, path, catalogue, onChange }} />}
        </details>
        <IconButton
          small
          icon="bin"
          name={`Remove ${name}`}
          onClick={() => onChange(withValue(component, path, undefined))}
        />
      </div>
      {!open && <MistakesAt path={path} id={`${path.join("-")}-part`} />}
    </li>
  );
}

interface PartChoiceProps {
  label: string;
  groups: readonly { title: string; choices: readonly { value: string; name: string }[] }[];
  onChoose: (value: string) => void;
}

/** Adds a part of those that are offered. */
export function PartChoice({ label, groups, onChoose }: PartChoiceProps): ReactNode {
  return (
    <select
      aria-label={label}
      value=""
      onChange={({ target }) => {
        if (target.value !== "") onChoose(target.value);
      }}
    >
      <option value="">{label}</option>
      {groups
        .filter(({ choices }) => choices.length > 0)
        .map(({ title, choices }) => (
          <optgroup key={title} label={title}>
            {choices.map(({ value, name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  );
}

/** The part of a component at a place. */
export function partAt(component: ComponentData, path: FieldsProps["path"]): ComponentData {
  return valueAt(component, path) as ComponentData;
}
