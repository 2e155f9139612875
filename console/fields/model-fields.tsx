import type { ComponentData } from "../component/catalogue.ts";
import { configOf, textOf } from "../picture/component-json.ts";
import { ClassChoice } from "../inputs/class-choice.tsx";
import { FoldedSettings, MistakesAt } from "../inputs/mistakes.tsx";
import { valueAt, withValue } from "../component/value-path.ts";
import { type FieldsProps, NumberField, SettingsFields } from "../inputs/settings-fields.tsx";
import { costOf, shortNumber } from "../parts/numbers.ts";
import { TextField } from "../inputs/text-field.tsx";
import { at } from "../inputs/wanted.ts";

const ABOVE = ["model", "temperature"];

/** The model of an agent or a team: its server, its name, its temperature, and the other settings folded. */
export function ModelFields({ component, path, catalogue, onChange }: FieldsProps) {
  const part = valueAt(component, path) as ComponentData;
  const config = configOf(part);
  const { provider } = part;
  const set = (key: string, value: unknown): void =>
    onChange(withValue(component, [...path, "config", key], value));
  const has = (key: string): boolean => key in config || catalogue.has(provider, key);
  return (
    <fieldset className="editor-group" {...at(path)}>
      <legend>Model</legend>
      <ClassChoice
        label="Server"
        provider={provider}
        classes={catalogue.fitting("model_client")}
        onChoose={(chosen) => onChange(withValue(component, path, catalogue.empty(chosen)))}
      />
      <MistakesAt path={[...path, "provider"]} id={`${path.join("-")}-server`} />
      {has("model") && (
        <TextField
          path={[...path, "config", "model"]}
          label="Model"
          value={textOf(config["model"])}
          choices={catalogue.names(provider, "model")}
          choiceText={(name) => factsOf(catalogue.model(provider, name), config["api_key"])}
          about={factsOf(catalogue.model(provider, textOf(config["model"])), config["api_key"])}
          onChange={(text) => set("model", text)}
        />
      )}
      {has("temperature") && (
        <NumberField
          component={component}
          path={[...path, "config", "temperature"]}
          label="Temperature"
          usual={undefined}
          onChange={onChange}
        />
      )}
      <FoldedSettings title="More model settings" path={path} without={ABOVE}>
        <SettingsFields
          key={provider}
          component={component}
          path={path}
          catalogue={catalogue}
          without={ABOVE}
          onChange={onChange}
        />
      </FoldedSettings>
    </fieldset>
  );
}

/** The window and the price of a model, and whether there is a key for it. */
function factsOf(
  model: ReturnType<FieldsProps["catalogue"]["model"]>,
  ownKey: unknown,
): string | undefined {
  if (model === undefined) return undefined;
  const { context_window, input_price, output_price, has_key } = model;
  return [
    context_window === null ? "window not published" : `${shortNumber(context_window)} tokens`,
    input_price === null || output_price === null
      ? "no price set"
      : `${costOf(input_price)} in and ${costOf(output_price)} out per million`,
    ownKey ? "has its own key" : has_key ? "the server has a key" : "no key on this server",
  ].join(" · ");
}
