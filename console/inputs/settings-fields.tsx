import { useId } from "react";
import { IconButton } from "../parts/icon-button.tsx";
import { configOf, listOf, textOf } from "../picture/component-json.ts";
import { visibleName } from "../text/foreign.ts";
import type { Catalogue, ComponentData } from "../component/catalogue.ts";
import { ClassChoice } from "./class-choice.tsx";
import { JsonField } from "./json-field.tsx";
import { FoldedSettings, MistakesAt, useMistakes } from "./mistakes.tsx";
import { nameOf } from "../component/parts.ts";
import { type ValuePath, valueAt, withValue } from "../component/value-path.ts";
import type { Setting } from "../component/settings.ts";
import { TextField } from "./text-field.tsx";
import { at } from "./wanted.ts";

const NONE: readonly string[] = [];

export interface FieldsProps {
  component: ComponentData;
  /** The path of what the fields belong to. */
  path: ValuePath;
  catalogue: Catalogue;
  onChange: (component: ComponentData) => void;
}

interface SettingsFieldsProps extends FieldsProps {
  /** Settings that have fields elsewhere. */
  without?: readonly string[];
}

/** The settings of a part of a team, with a field for each. Those that are rarely needed are folded. */
export function SettingsFields({ without = NONE, ...props }: SettingsFieldsProps) {
  const { component, path, catalogue } = props;
  const { provider } = valueAt(component, path) as ComponentData;
  const config = configOf(valueAt(component, path));
  if (!catalogue.knows(provider)) {
    return <p className="muted">This server doesn't know this class. Edit it as JSON.</p>;
  }
  const visible = catalogue.settings(provider).filter(({ key }) => !without.includes(key));
  const isFirst = ({ key, first }: Setting): boolean => first || config[key] !== undefined;
  const others = visible.filter((setting) => !isFirst(setting));
  return (
    <div className="settings-fields">
      {visible.filter(isFirst).map((setting) => (
        <SettingField key={setting.key} setting={setting} {...props} />
      ))}
      {others.length > 0 && (
        <FoldedSettings
          title="More settings"
          path={path}
          without={[...without, ...visible.filter(isFirst).map(({ key }) => key)]}
        >
          <div className="settings-fields">
            {others.map((setting) => (
              <SettingField key={setting.key} setting={setting} {...props} />
            ))}
          </div>
        </FoldedSettings>
      )}
    </div>
  );
}

interface SettingFieldProps extends FieldsProps {
  setting: Setting;
}

function SettingField({ setting, ...props }: SettingFieldProps) {
  const { component, onChange } = props;
  const path = [...props.path, "config", setting.key];
  const value = valueAt(component, path);
  const set = (next: unknown): void => onChange(withValue(component, path, next));
  const label = setting.required ? `${setting.title} *` : setting.title;
  const field = { ...props, path, label };
  switch (setting.kind) {
    case "text":
    case "long text":
      return (
        <TextField
          path={path}
          label={label}
          long={setting.kind === "long text"}
          value={textOf(value)}
          placeholder={
            setting.key === "api_key" ? "env:OPENAI_API_KEY" : visibleName(textOf(setting.usual))
          }
          onChange={(text) => set(text === "" ? undefined : text)}
        />
      );
    case "number":
      return <NumberField {...field} usual={setting.usual} />;
    case "switch":
      return (
        <div className="editor-field" {...at(path)}>
          <label className="check">
            <input
              type="checkbox"
              checked={(value ?? setting.usual) === true}
              onChange={({ target }) => set(target.checked)}
            />
            {label}
          </label>
          <MistakesAt path={path} id={path.join("-")} />
        </div>
      );
    case "choice":
      return <Choice {...field} setting={setting} />;
    case "texts":
      return (
        <TextField
          path={path}
          label={`${label} (one per line)`}
          long
          value={listOf(value).map(textOf).join("\n")}
          onChange={(text) => set(text === "" ? undefined : text.split("\n"))}
        />
      );
    case "component":
      return <PartField {...field} of={setting.key} />;
    case "components":
      return <PartList {...field} of={setting.key} />;
    case "json":
      return <JsonField path={path} label={label} value={value} onChange={set} />;
  }
}

interface LabelledProps extends FieldsProps {
  label: string;
}

export function NumberField(props: Omit<LabelledProps, "catalogue"> & { usual: unknown }) {
  const { component, path, label, usual, onChange } = props;
  const id = useId();
  const wrong = useMistakes(path).length > 0;
  const value = valueAt(component, path);
  return (
    <div className="editor-field" {...at(path)}>
      <label className="field">
        <span>{label}</span>
        <input
          type="number"
          step="any"
          placeholder={typeof usual === "number" ? String(usual) : "Default"}
          value={typeof value === "number" ? value : ""}
          aria-invalid={wrong}
          aria-describedby={wrong ? id : undefined}
          onChange={({ target }) =>
            onChange(
              withValue(component, path, target.value === "" ? undefined : target.valueAsNumber),
            )
          }
        />
      </label>
      <MistakesAt path={path} id={id} />
    </div>
  );
}

function Choice(props: LabelledProps & { setting: Setting }) {
  const { component, path, label, setting, onChange } = props;
  const id = useId();
  const value = textOf(valueAt(component, path));
  const usual = textOf(setting.usual);
  return (
    <div className="editor-field" {...at(path)}>
      <label className="field">
        <span>{label}</span>
        <select
          value={value}
          onChange={({ target }) =>
            onChange(withValue(component, path, target.value === "" ? undefined : target.value))
          }
        >
          <option value="">{usual === "" ? "Default" : `Default (${usual})`}</option>
          {setting.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      </label>
      <MistakesAt path={path} id={id} />
    </div>
  );
}

interface PartFieldProps extends LabelledProps {
  /** The key by which the classes that fit are known. */
  of: string;
}

/** A part of a part: its class by name, then its settings. */
export function PartField({ component, path, catalogue, label, of, onChange }: PartFieldProps) {
  const id = useId();
  const part = valueAt(component, path) as ComponentData | null | undefined;
  const provider = part?.provider ?? "";
  return (
    <div className="part-field" {...at(path)}>
      <ClassChoice
        label={label}
        provider={provider}
        classes={catalogue.fitting(of)}
        optional
        onChoose={(chosen) => {
          const next = chosen === "" ? undefined : catalogue.empty(chosen);
          onChange(withValue(component, path, next));
        }}
      />
      <MistakesAt path={provider === "" ? path : [...path, "provider"]} id={id} />
      {part != null && (
        <SettingsFields
          key={provider}
          component={component}
          path={path}
          catalogue={catalogue}
          onChange={onChange}
        />
      )}
    </div>
  );
}

function PartList({ component, path, catalogue, label, of, onChange }: PartFieldProps) {
  const items = listOf(valueAt(component, path));
  const name = label.replace(/s? \*$|s$/, "").toLowerCase();
  return (
    <fieldset className="editor-group" {...at(path)}>
      <legend>{label}</legend>
      {items.map((item, index) => {
        const place: ValuePath = [...path, index];
        return (
          <div key={index} className="editor-item">
            <PartField
              component={component}
              path={place}
              catalogue={catalogue}
              label={`${index + 1}.`}
              of={of}
              onChange={onChange}
            />
            <IconButton
              small
              icon="bin"
              name={`Remove ${name} ${index + 1}`}
              title={`Remove ${visibleName(nameOf(item))}`}
              onClick={() => onChange(withValue(component, place, undefined))}
            />
          </div>
        );
      })}
      <MistakesAt path={path} own id={path.join("-")} />
      <select
        aria-label={`Add a ${name}`}
        value=""
        onChange={({ target }) => {
          if (target.value === "") return;
          onChange(withValue(component, path, [...items, catalogue.empty(target.value)]));
        }}
      >
        <option value="">Add a {name}</option>
        {catalogue.fitting(of).map((one) => (
          <option key={one.provider} value={one.provider}>
            {one.name}
          </option>
        ))}
      </select>
    </fieldset>
  );
}
