/** A value that answers a question, with its name. */
export interface Choice {
  value: unknown;
  label: string;
}

/** The form of a question: a confirmation, buttons or fields. */
export type Asking =
  /** Nothing to fill in. */
  | { by: "confirmation" }
  /** One field with few values: a button for each. */
  | { by: "choice"; field: string; about: string | undefined; choices: readonly Choice[] }
  | { by: "form" };

/** With more values, a list is easier to read than buttons. */
const MOST_BUTTONS = 6;

interface Schema {
  [keyword: string]: unknown;
}

/** The form for a JSON Schema of the type object, which is untrusted data. */
export function askingFor(schema: object): Asking {
  const { properties } = schema as Schema;
  const fields = isSchema(properties) ? Object.entries(properties) : [];
  const [first] = fields;
  if (first === undefined) return { by: "confirmation" };
  if (fields.length > 1) return { by: "form" };
  const [field, value] = first;
  const choices = choicesOf(value);
  if (choices === undefined || choices.length > MOST_BUTTONS) return { by: "form" };
  const { title, description } = value as Schema;
  const about = [title, description].filter((text) => typeof text === "string" && text !== "");
  return { by: "choice", field, about: about.join(": ") || undefined, choices };
}

/** The values of a field that has a list of them; undefined for another one. */
export function choicesOf(schema: unknown): Choice[] | undefined {
  if (!isSchema(schema)) return undefined;
  const { type, enum: values, enumNames: names, oneOf, anyOf } = schema;
  if (Array.isArray(values) && values.length > 0 && values.every(isScalar)) {
    return values.map((value, index) => ({
      value,
      label: textIn(Array.isArray(names) ? names[index] : undefined) ?? String(value),
    }));
  }
  for (const list of [oneOf, anyOf]) {
    if (!Array.isArray(list) || list.length === 0) continue;
    const titled = list.flatMap((one: unknown) =>
      isSchema(one) && isScalar(one["const"])
        ? [{ value: one["const"], label: textIn(one["title"]) ?? String(one["const"]) }]
        : [],
    );
    if (titled.length === list.length) return titled;
  }
  if (type !== "boolean") return undefined;
  return [
    { value: true, label: "Yes" },
    { value: false, label: "No" },
  ];
}

/** The defaults of a schema's fields. */
export function defaultsOf(schema: object): Record<string, unknown> {
  const { properties } = schema as Schema;
  if (!isSchema(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) =>
      isSchema(field) && field["default"] !== undefined ? [[name, field["default"]]] : [],
    ),
  );
}

/** The label of a value of a field. */
export function labelOf(schema: object, field: string, value: unknown): string | undefined {
  const { properties } = schema as Schema;
  const known = isSchema(properties) ? choicesOf(properties[field]) : undefined;
  return known?.find((one) => one.value === value)?.label;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isScalar(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
