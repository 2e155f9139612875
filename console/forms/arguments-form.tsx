import Form from "@rjsf/core/lib/components/Form.js";
import type { UiSchema } from "@rjsf/utils";
import { useMemo } from "react";
import {
  ArrayItemTemplate,
  ArrayTemplate,
  DescriptionTemplate,
  ErrorTemplate,
  FieldTemplate,
  ObjectTemplate,
  UnsupportedTemplate,
} from "./templates.tsx";
import { validator } from "./validator.ts";

const TEMPLATES = {
  FieldTemplate,
  FieldErrorTemplate: ErrorTemplate,
  DescriptionFieldTemplate: DescriptionTemplate,
  ObjectFieldTemplate: ObjectTemplate,
  ArrayFieldTemplate: ArrayTemplate,
  ArrayFieldItemTemplate: ArrayItemTemplate,
  UnsupportedFieldTemplate: UnsupportedTemplate,
};
const DEFAULTS = { emptyObjectFields: "skipEmptyDefaults" } as const;

interface ArgumentsFormProps {
  /** JSON Schema of the arguments, with properties. */
  parameters: object;
  value: object;
  onChange: (value: object) => void;
}

/** The arguments of a tool call, with a field for each, validated while typing. */
export function ArgumentsForm({ parameters, value, onChange }: ArgumentsFormProps) {
  const ui = useMemo(() => longTexts(value), [value]);
  return (
    <Form
      className="schema-form"
      tagName="div"
      schema={{ ...parameters, title: "" }}
      uiSchema={ui}
      validator={validator}
      templates={TEMPLATES}
      formData={value}
      liveValidate
      showErrorList={false}
      noHtml5Validate
      experimental_defaultFormStateBehavior={DEFAULTS}
      onChange={({ formData }) => onChange((formData as object | undefined) ?? {})}
    >
      {/* Its place takes no button: what is around the form has it. */}
      <></>
    </Form>
  );
}

/** Texts of several lines, such as code, get a larger field. */
function longTexts(value: object): UiSchema {
  const long = Object.entries(value).filter(([, text]) => {
    return typeof text === "string" && (text.includes("\n") || text.length > 80);
  });
  const field = { "ui:widget": "textarea", "ui:options": { rows: 8 }, "ui:classNames": "code" };
  return Object.fromEntries(long.map(([key]) => [key, field]));
}
