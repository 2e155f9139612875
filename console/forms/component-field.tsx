import type { FieldProps } from "@rjsf/utils";
import { useMemo } from "react";
import { shortKindOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import type { Catalogue, ComponentData } from "./catalogue.ts";
import { configForm } from "./form-schema.ts";

/** A component: its class by name, then the fields of its config. */
export function ComponentField(props: FieldProps) {
  const { fieldPathId, registry, errorSchema, onChange, schema, required } = props;
  const { catalogue } = registry.formContext as { catalogue: Catalogue };
  const formData = props.formData as ComponentData | undefined;
  const { path, $id } = fieldPathId;
  // Items of a list fit where the list fits.
  const key = path.findLast((step) => typeof step === "string") ?? "";
  const provider = formData?.provider ?? "";
  const known = catalogue.get(provider);
  const form = useMemo(
    () => (known ? configForm(known.config, catalogue) : undefined),
    [known, catalogue],
  );
  const options = useMemo(() => {
    const fitting = catalogue.fitting(key);
    const has = provider === "" || fitting.some((one) => one.provider === provider);
    return has ? fitting : [...fitting, { provider, name: shortKindOf(provider) }];
  }, [catalogue, key, provider]);
  const SchemaField = registry.fields["SchemaField"];
  const choose = (chosen: string): void => {
    onChange(chosen === "" ? undefined : catalogue.empty(chosen), path);
  };
  const name = [schema.title, formData?.config?.["name"]].filter(Boolean).join(": ");
  return (
    <fieldset className="component-fields" id={$id}>
      <div className="field form-field">
        <label htmlFor={`${$id}__provider`}>
          {visibleName(name) || "Kind of team"}
          {required === true && <span className="required"> *</span>}
        </label>
        <select
          id={`${$id}__provider`}
          value={provider}
          required={required}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">{required || path.length === 0 ? "Choose one" : "None"}</option>
          {options.map((option) => (
            <option key={option.provider} value={option.provider}>
              {option.name}
            </option>
          ))}
        </select>
      </div>
      <Errors messages={errorSchema?.provider?.__errors} />
      {SchemaField !== undefined && form !== undefined && formData !== undefined && (
        <SchemaField
          key={provider}
          name="config"
          schema={form.schema}
          uiSchema={form.ui}
          registry={registry}
          required
          formData={formData.config}
          errorSchema={errorSchema?.config ?? {}}
          fieldPathId={{ $id: `${$id}_config`, path: [...path, "config"] }}
          onChange={onChange}
          onBlur={props.onBlur}
          onFocus={props.onFocus}
        />
      )}
    </fieldset>
  );
}

interface ErrorsProps {
  /** By which the field names them. */
  id?: string;
  messages?: readonly string[] | undefined;
}

export function Errors({ id, messages = [] }: ErrorsProps) {
  if (messages.length === 0) return null;
  return (
    <ul id={id} className="field-errors">
      {messages.map((message) => (
        <li key={message}>{message}</li>
      ))}
    </ul>
  );
}
