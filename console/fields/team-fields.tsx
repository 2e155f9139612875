import { useId } from "react";
import { labelOf } from "../component/setting-labels.ts";
import { configOf, textOf } from "../picture/component-json.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { ClassChoice } from "../inputs/class-choice.tsx";
import { EntryField } from "./edges-field.tsx";
import { namesIn, withKind } from "../component/edits.ts";
import { graphOf } from "../component/graph.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { ModelFields } from "./model-fields.tsx";
import { modelPath } from "../component/parts.ts";
import { valueAt, withValue } from "../component/value-path.ts";
import { type FieldsProps, PartField, SettingsFields } from "../inputs/settings-fields.tsx";
import { TextField } from "../inputs/text-field.tsx";

/** The texts that instruct the manager of a team. */
const TEXTS = ["selector_prompt", "final_answer_prompt"];

/** Settings that have fields of their own, or are drawn. */
const APART = [
  ...TEXTS,
  "participants",
  "graph",
  "model_client",
  "termination_condition",
  "selector_func",
  "candidate_func",
];

/** The fields of a team itself: how its agents take turns, and when a run ends. */
export function TeamFields({ component, path, catalogue, onChange }: FieldsProps) {
  const id = useId();
  const part = valueAt(component, path) as ComponentData;
  const config = configOf(part);
  const model = modelPath(component, path);
  const fields = { component, path, catalogue, onChange };
  return (
    <>
      <ClassChoice
        label="Kind of team"
        provider={part.provider}
        classes={catalogue.fitting("team")}
        onChoose={(chosen) => onChange(withKind(component, path, chosen, catalogue))}
      />
      <MistakesAt path={[...path, "provider"]} id={`${id}-kind`} />
      <MistakesAt path={[...path, "config", "participants"]} own id={`${id}-participants`} />
      {graphOf(component, path) !== undefined && (
        <>
          <EntryField
            component={component}
            team={path}
            names={namesIn(component, path)}
            onChange={onChange}
          />
          <MistakesAt path={[...path, "config", "graph"]} id={`${id}-graph`} />
        </>
      )}
      {TEXTS.filter((key) => catalogue.has(part.provider, key)).map((key) => (
        <TextField
          key={key}
          long
          path={[...path, "config", key]}
          label={labelOf(key)}
          value={textOf(config[key])}
          placeholder="Default"
          onChange={(text) =>
            onChange(withValue(component, [...path, "config", key], text === "" ? undefined : text))
          }
        />
      ))}
      {model !== undefined ? (
        <ModelFields {...fields} path={model} />
      ) : (
        catalogue.has(part.provider, "model_client") && (
          <PartField
            {...fields}
            path={[...path, "config", "model_client"]}
            label="Model"
            of="model_client"
          />
        )
      )}
      <PartField
        {...fields}
        path={[...path, "config", "termination_condition"]}
        label="The run ends with"
        of="termination_condition"
      />
      <SettingsFields key={part.provider} {...fields} without={APART} />
    </>
  );
}
