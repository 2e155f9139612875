import Form from "@rjsf/core/lib/components/Form.js";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import type { Catalogue } from "./catalogue.ts";
import { ComponentField } from "./component-field.tsx";
import type { ErrorTree } from "./error-tree.ts";
import { JsonField } from "./json-field.tsx";
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

interface SchemaFormProps {
  schema: RJSFSchema;
  ui?: UiSchema;
  data: unknown;
  onChange: (data: unknown) => void;
  /** What the server found wrong. */
  errors?: ErrorTree | undefined;
  /** Whether the data is checked with the schema as it is typed. */
  check?: boolean;
  /** The classes to choose from, where the schema has components. */
  catalogue?: Catalogue;
}

const FIELDS = { component: ComponentField, json: JsonField };
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

/** Fields for what a JSON Schema describes. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, ui = {}, data, onChange, errors, check = false, catalogue } = props;
  return (
    <Form
      className="schema-form"
      tagName="div"
      schema={schema}
      uiSchema={ui}
      validator={validator}
      fields={FIELDS}
      templates={TEMPLATES}
      formData={data}
      formContext={{ catalogue }}
      extraErrors={(errors ?? {}) as ErrorSchema}
      noValidate={!check}
      liveValidate={check}
      showErrorList={false}
      noHtml5Validate
      experimental_defaultFormStateBehavior={DEFAULTS}
      onChange={({ formData }) => onChange(formData)}
    >
      {/* Its place takes no button: what is around the form has it. */}
      <></>
    </Form>
  );
}
