import { configOf, listOf, textOf } from "../picture/component-json.ts";
import type { FieldsProps } from "../inputs/settings-fields.tsx";
import { targetOf } from "../component/parts.ts";
import { valueAt, withValue } from "../component/value-path.ts";
import { NamesField } from "./names-field.tsx";

interface HandoffsFieldProps extends Omit<FieldsProps, "catalogue"> {
  /** The other agents of its team. */
  others: readonly string[];
}

/** To whom an agent can hand the conversation over: agents of its team, or a human outside. */
export function HandoffsField({ component, path, others, onChange }: HandoffsFieldProps) {
  const list = [...path, "config", "handoffs"];
  const handoffs = listOf(valueAt(component, list));
  const own = textOf(configOf(valueAt(component, path))["name"]);
  return (
    <NamesField
      path={list}
      title="Handoffs"
      icon="right"
      none="No handoffs."
      label="Hand off to"
      names={handoffs.map(targetOf)}
      offered={others.filter((name) => name !== own)}
      removal={(name) => `Remove the handoff to ${name}`}
      onAdd={(name) => onChange(withValue(component, list, [...handoffs, name]))}
      onRemove={(index) => onChange(withValue(component, [...list, index], undefined))}
    />
  );
}
