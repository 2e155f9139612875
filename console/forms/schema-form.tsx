import Form from "@rjsf/core/lib/components/Form.js";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import { useEffect, useMemo, useRef } from "react";
import {
  ArrayItemTemplate,
  ArrayTemplate,
  DescriptionTemplate,
  ErrorTemplate,
  FieldTemplate,
  ObjectTemplate,
  UnsupportedTemplate,
} from "./templates.tsx";
import { errorTree, problemsOf } from "./problems.ts";
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

interface SchemaFormProps {
  /** JSON Schema of the type object, with properties. */
  schema: object;
  value: object;
  /** False while mistakes are not shown: the user has not tried to send the form. */
  checked?: boolean;
  /** True if booleans are asked as yes or no, so that none is left out. */
  asking?: boolean;
  /** True if the first field gets the focus once the form is there. */
  autoFocus?: boolean;
  onChange: (value: object) => void;
}

/** A field for each value that a schema describes, validated while typing. */
export function SchemaForm({
  schema,
  value,
  checked = true,
  asking = false,
  autoFocus = false,
  onChange,
}: SchemaFormProps) {
  const first = useRef(value);
  const ui = useMemo(
    () => ({ ...longTexts(first.current), ...(asking && yesOrNo(schema)) }),
    [asking, schema],
  );
  const shown = useMemo(() => ({ ...listsOfChoices(schema), title: "" }) as RJSFSchema, [schema]);
  const mistakes = useMemo(
    () => (asking && checked ? errorTree(problemsOf(value, schema)) : {}),
    [asking, checked, value, schema],
  );
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!autoFocus) return;
    const field = form.current?.querySelector<HTMLElement>("input, select, textarea");
    field?.focus();
  }, [autoFocus]);
  return (
    <div ref={form}>
      <Form
        className="schema-form"
        tagName="div"
        schema={shown}
        uiSchema={ui}
        validator={validator}
        templates={TEMPLATES}
        formData={value}
        liveValidate={!asking}
        extraErrors={mistakes as ErrorSchema}
        showErrorList={false}
        noHtml5Validate
        experimental_defaultFormStateBehavior={DEFAULTS}
        onChange={({ formData }) => onChange((formData as object | undefined) ?? {})}
      >
        {/* Its place takes no button: what is around the form has it. */}
        <></>
      </Form>
    </div>
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

function yesOrNo(schema: object): UiSchema {
  const fields = Object.entries(propertiesOf(schema));
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      typeof field === "object" && field !== null && "type" in field && field.type === "boolean"
        ? [[name, { "ui:widget": "radio", "ui:options": { inline: true } }]]
        : [],
    ),
  );
}

/** Lists whose items have few values are choices of several: the forms know them by their items being unique. */
function listsOfChoices(schema: object): object {
  const properties = Object.entries(propertiesOf(schema)).map(([name, field]) => {
    const { type, items } = (field ?? {}) as { type?: unknown; items?: unknown };
    if (type !== "array" || typeof items !== "object" || items === null) return [name, field];
    const { enum: values, anyOf, oneOf } = items as { [keyword: string]: unknown };
    const titled = [anyOf, oneOf].find(Array.isArray);
    if (!Array.isArray(values) && titled === undefined) return [name, field];
    const choices = titled === undefined ? items : { type: "string", oneOf: titled as unknown };
    const several = { uniqueItems: true, items: choices };
    return [name, { ...(field as object), ...several }];
  });
  return { ...schema, properties: Object.fromEntries(properties) as object };
}

function propertiesOf(schema: object): object {
  const { properties } = schema as { properties?: unknown };
  return typeof properties === "object" && properties !== null ? properties : {};
}
