import type { UiSchema } from "@rjsf/utils";
import { useMemo } from "react";
import { SchemaForm } from "./schema-form.tsx";

interface ArgumentsFormProps {
  /** JSON Schema of the arguments, with properties. */
  parameters: object;
  value: object;
  onChange: (value: object) => void;
}

/** The arguments of a tool call, a field for each, checked as they are typed. */
export function ArgumentsForm({ parameters, value, onChange }: ArgumentsFormProps) {
  const ui = useMemo(() => longTexts(value), [value]);
  return (
    <SchemaForm
      schema={{ ...parameters, title: "" }}
      ui={ui}
      data={value}
      onChange={(data) => onChange(data ?? {})}
      check
    />
  );
}

/** Texts of several lines, such as code, have room. */
function longTexts(value: object): UiSchema {
  const long = Object.entries(value).filter(([, text]) => {
    return typeof text === "string" && (text.includes("\n") || text.length > 80);
  });
  const field = { "ui:widget": "textarea", "ui:options": { rows: 8 }, "ui:classNames": "code" };
  return Object.fromEntries(long.map(([key]) => [key, field]));
}
