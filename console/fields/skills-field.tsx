import { listOf, textOf } from "../picture/component-json.ts";
import type { FieldsProps } from "../inputs/settings-fields.tsx";
import { valueAt, withValue } from "../component/value-path.ts";
import { NamesField } from "./names-field.tsx";

interface SkillsFieldProps extends Omit<FieldsProps, "catalogue"> {
  /** The names of the skills on the server. Those of the agent's MCP servers are typed. */
  skills: readonly string[];
}

/** The skills of an agent. */
export function SkillsField({ component, path, skills, onChange }: SkillsFieldProps) {
  const list = [...path, "config", "skills"];
  const names = listOf(valueAt(component, list)).map(textOf);
  const change = (next: readonly string[]): void =>
    onChange(withValue(component, list, next.length === 0 ? undefined : next));
  return (
    <NamesField
      path={list}
      title="Skills"
      icon="book"
      none="This agent has no skills."
      label="Add a skill"
      names={names}
      offered={skills}
      removal={(name) => `Remove the skill ${name}`}
      onAdd={(name) => change([...names, name])}
      onRemove={(index) => change(names.toSpliced(index, 1))}
    />
  );
}
