import Form from "@rjsf/core/lib/components/Form.js";
import type { ErrorSchema, UiSchema } from "@rjsf/utils";
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
const YES_OR_NO = { "ui:widget": "radio", "ui:options": { inline: true } };
const BOXES = { "ui:widget": "checkboxes" };
const DEFAULTS = { emptyObjectFields: "skipEmptyDefaults" } as const;
/** Without it, a required boolean that the user leaves out is false. */
const NOTHING_ASSUMED = { ...DEFAULTS, requiredBooleanDefault: "skip" } as const;

interface SchemaFormProps {
  /** JSON Schema of the type object, with properties. */
  schema: object;
  value: object;
  /** False while mistakes are not shown: the user has not tried to send the form. */
  checked?: boolean;
  /** True if booleans are asked as yes or no, so that none is left out, and lists of few values as boxes. */
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
    () => ({ ...(asking && choices(schema)), ...longTexts(first.current) }),
    [asking, schema],
  );
  const shown = useMemo(() => ({ ...listsOfChoices(schema), title: "" }), [schema]);
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
        experimental_defaultFormStateBehavior={asking ? NOTHING_ASSUMED : DEFAULTS}
        onChange={({ formData }) => onChange((formData as object | undefined) ?? {})}
      >
        {/* The parent of the form renders the button. */}
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

/** Booleans are asked as yes or no, lists with few values as boxes to check, and values by their names. */
function choices(schema: object): UiSchema {
  const fields: [string, unknown][] = Object.entries(propertiesOf(schema));
  return Object.fromEntries(fields.map(([name, field]) => [name, choiceOf(field)]));
}

function choiceOf(field: unknown): UiSchema {
  const { type } = (field ?? {}) as { type?: unknown };
  if (type === "boolean") return YES_OR_NO;
  const items = choicesIn(field);
  return items === undefined ? namesOf(field) : { ...BOXES, ...namesOf(items) };
}

/** The names of values, which the forms do not take from a schema. */
function namesOf(field: unknown): UiSchema {
  const { enumNames: names } = (field ?? {}) as { enumNames?: unknown };
  return Array.isArray(names) ? { "ui:enumNames": names.map(String) } : {};
}

/** Lists whose items have few values are choices of several: the forms know them by their items being unique. */
function listsOfChoices(schema: object): object {
  const fields: [string, unknown][] = Object.entries(propertiesOf(schema));
  const properties = fields.map(([name, field]): [string, unknown] => {
    const items = choicesIn(field);
    return [name, items === undefined ? field : { ...(field as object), uniqueItems: true, items }];
  });
  return { ...schema, properties: Object.fromEntries(properties) as object };
}

/** The schema of a list's items if it names their values. */
function choicesIn(field: unknown): object | undefined {
  const { type, items } = (field ?? {}) as { type?: unknown; items?: unknown };
  if (type !== "array" || typeof items !== "object" || items === null) return undefined;
  const { enum: values, anyOf, oneOf } = items as { [keyword: string]: unknown };
  if (Array.isArray(values)) return items;
  const titled: unknown = [anyOf, oneOf].find(Array.isArray);
  return titled === undefined ? undefined : { type: "string", oneOf: titled };
}

function propertiesOf(schema: object): object {
  const { properties } = schema as { properties?: unknown };
  return typeof properties === "object" && properties !== null ? properties : {};
}
