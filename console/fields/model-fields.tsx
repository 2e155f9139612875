import type { ComponentData } from "../component/catalogue.ts";
import { configOf, textOf } from "../picture/component-json.ts";
import { ClassChoice } from "./class-choice.tsx";
import { FoldedSettings, MistakesAt } from "./mistakes.tsx";
import { valueAt, withValue } from "../component/value-path.ts";
import { type FieldsProps, NumberField, SettingsFields } from "./settings-fields.tsx";
import { TextField } from "./text-field.tsx";

const ABOVE = ["model", "temperature"];

/** The model of an agent or a team: its server, its name, its temperature, and the other settings folded. */
export function ModelFields({ component, place, catalogue, onChange }: FieldsProps) {
  const part = valueAt(component, place) as ComponentData;
  const config = configOf(part);
  const { provider } = part;
  const set = (key: string, value: unknown): void =>
    onChange(withValue(component, [...place, "config", key], value));
  const has = (key: string): boolean => key in config || catalogue.has(provider, key);
  return (
    <fieldset className="editor-group">
      <legend>Model</legend>
      <ClassChoice
        label="Server"
        provider={provider}
        classes={catalogue.fitting("model_client")}
        onChoose={(chosen) => onChange(withValue(component, place, catalogue.empty(chosen)))}
      />
      <MistakesAt place={[...place, "provider"]} id={`${place.join("-")}-server`} />
      {has("model") && (
        <TextField
          place={[...place, "config", "model"]}
          label="Model"
          value={textOf(config["model"])}
          choices={catalogue.names(provider, "model")}
          onChange={(text) => set("model", text)}
        />
      )}
      {has("temperature") && (
        <NumberField
          component={component}
          place={[...place, "config", "temperature"]}
          label="Temperature"
          usual={undefined}
          onChange={onChange}
        />
      )}
      <FoldedSettings title="More settings of the model" place={place} without={ABOVE}>
        <SettingsFields
          key={provider}
          component={component}
          place={place}
          catalogue={catalogue}
          without={ABOVE}
          onChange={onChange}
        />
      </FoldedSettings>
    </fieldset>
  );
}
