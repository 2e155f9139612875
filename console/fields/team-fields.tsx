import { useId } from "react";
import { titleOf } from "../teams/kinds.ts";
import { configOf, textOf } from "../picture/component-json.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { ClassChoice } from "./class-choice.tsx";
import { EntryField } from "./edges-field.tsx";
import { namesIn, withKind } from "../component/edits.ts";
import { graphOf } from "../component/graph.ts";
import { MistakesAt } from "./mistakes.tsx";
import { ModelFields } from "./model-fields.tsx";
import { modelPlace } from "../component/parts.ts";
import { valueAt, withValue } from "../component/value-path.ts";
import { type FieldsProps, PartField, SettingsFields } from "./settings-fields.tsx";
import { TextField } from "./text-field.tsx";

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
export function TeamFields({ component, place, catalogue, onChange }: FieldsProps) {
  const id = useId();
  const part = valueAt(component, place) as ComponentData;
  const config = configOf(part);
  const model = modelPlace(component, place);
  const fields = { component, place, catalogue, onChange };
  return (
    <>
      <ClassChoice
        label="Kind of team"
        provider={part.provider}
        classes={catalogue.fitting("team")}
        onChoose={(chosen) => onChange(withKind(component, place, chosen, catalogue))}
      />
      <MistakesAt place={[...place, "provider"]} id={`${id}-kind`} />
      <MistakesAt place={[...place, "config", "participants"]} own id={`${id}-participants`} />
      {graphOf(component, place) !== undefined && (
        <>
          <EntryField
            component={component}
            team={place}
            names={namesIn(component, place)}
            onChange={onChange}
          />
          <MistakesAt place={[...place, "config", "graph"]} id={`${id}-graph`} />
        </>
      )}
      {TEXTS.filter((key) => catalogue.has(part.provider, key)).map((key) => (
        <TextField
          key={key}
          long
          place={[...place, "config", key]}
          label={titleOf(key)}
          value={textOf(config[key])}
          placeholder="The default"
          onChange={(text) =>
            onChange(
              withValue(component, [...place, "config", key], text === "" ? undefined : text),
            )
          }
        />
      ))}
      {model !== undefined ? (
        <ModelFields {...fields} place={model} />
      ) : (
        catalogue.has(part.provider, "model_client") && (
          <PartField
            {...fields}
            place={[...place, "config", "model_client"]}
            label="Model"
            of="model_client"
          />
        )
      )}
      <PartField
        {...fields}
        place={[...place, "config", "termination_condition"]}
        label="The run ends by"
        of="termination_condition"
      />
      <SettingsFields key={part.provider} {...fields} without={APART} />
    </>
  );
}
