import { type FormEvent, useId, useState } from "react";
import { type Choice, choicesOf } from "../answers/choices.ts";
import type { AnswerFieldsProps } from "../forms/answer-fields.tsx";
import { problemsOf } from "../forms/problems.ts";
import { visibleName } from "../text/foreign.ts";

type Field = Readonly<Record<string, unknown>>;

/**
 * The form of a question, in place of the one of the console, whose library is larger than the page: fields with texts, numbers and
 * choices.
 *
 * @throws Error for other fields
 */
export function AnswerFields({ source, schema, initial, onGive, children }: AnswerFieldsProps) {
  const [value, setValue] = useState<Field>(() => ({ ...initial }));
  const [tried, setTried] = useState(false);
  const { properties = {}, required } = schema as { properties?: object; required?: unknown };
  const problems = tried ? problemsOf(value, schema) : [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (problemsOf(value, schema).length === 0) onGive(JSON.stringify(value));
  };
  const change = (name: string, next: unknown): void =>
    setValue((last) => {
      const { [name]: _, ...others } = last;
      return next === undefined ? others : { ...last, [name]: next };
    });
  return (
    <form
      className="stack answer-form"
      aria-label={`Answer ${source}`}
      noValidate
      onSubmit={submit}
    >
      {Object.entries(properties).map(([name, field]: [string, Field]) => (
        <AnswerField
          key={name}
          name={name}
          field={field}
          required={Array.isArray(required) && required.includes(name)}
          value={value[name]}
          mistakes={problems.filter(({ steps }) => steps[0] === name).map((one) => one.message)}
          onChange={(next) => change(name, next)}
        />
      ))}
      <div className="buttons">
        {children}
        <button className="button primary">Answer</button>
      </div>
    </form>
  );
}

interface AnswerFieldProps {
  name: string;
  field: Field;
  required: boolean;
  value: unknown;
  mistakes: readonly string[];
  /** Undefined: the value is left out. */
  onChange: (value: unknown) => void;
}

function AnswerField({ name, field, required, value, mistakes, onChange }: AnswerFieldProps) {
  const id = useId();
  const label = visibleName(typeof field["title"] === "string" ? field["title"] : name);
  const { description } = field;
  const described = {
    "aria-describedby": `${id}-about`,
    "aria-invalid": mistakes.length > 0,
    required,
  };
  const about = (
    <span id={`${id}-about`} className="muted">
      {typeof description === "string" && <span>{visibleName(description)} </span>}
      {mistakes.length > 0 && <strong className="field-mistake">{mistakes.join(" ")}</strong>}
    </span>
  );
  const several = field["type"] === "array" ? choicesOf(field["items"]) : undefined;
  if (several !== undefined) {
    const chosen: unknown[] = Array.isArray(value) ? value : [];
    return (
      <fieldset className="form-field">
        <legend>{label}</legend>
        {several.map((choice) => (
          <label key={choice.label} className="choice">
            <input
              type="checkbox"
              checked={chosen.includes(choice.value)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(
                  checked
                    ? [...chosen, choice.value]
                    : chosen.filter((one) => one !== choice.value),
                )
              }
            />
            {visibleName(choice.label)}
          </label>
        ))}
        {about}
      </fieldset>
    );
  }
  const choices = choicesOf(field);
  return (
    <div className="form-field field">
      <label htmlFor={id}>
        {label}
        {required ? "" : " (optional)"}
      </label>
      {choices === undefined ? (
        <Typed id={id} field={field} value={value} described={described} onChange={onChange} />
      ) : (
        <Chosen id={id} choices={choices} value={value} described={described} onChange={onChange} />
      )}
      {about}
    </div>
  );
}

interface InputProps {
  id: string;
  value: unknown;
  described: object;
  onChange: (value: unknown) => void;
}

function Chosen({ id, choices, value, described, onChange }: InputProps & { choices: Choice[] }) {
  return (
    <select
      id={id}
      value={choices.findIndex((choice) => choice.value === value)}
      {...described}
      onChange={({ currentTarget }) => onChange(choices[Number(currentTarget.value)]?.value)}
    >
      <option value={-1} />
      {choices.map(({ label }, index) => (
        <option key={label} value={index}>
          {visibleName(label)}
        </option>
      ))}
    </select>
  );
}

const NUMBERS: ReadonlySet<unknown> = new Set(["number", "integer"]);
/** The types of inputs by the formats of texts. */
const INPUTS: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date" };

function Typed({ id, field, value, described, onChange }: InputProps & { field: Field }) {
  const { type, format } = field;
  const isNumber = NUMBERS.has(type);
  if (!isNumber && type !== "string") {
    throw new Error("fields of this type are written as JSON");
  }
  const typed = isNumber ? "number" : (INPUTS[String(format)] ?? "text");
  return (
    <input
      id={id}
      type={typed}
      step={type === "integer" ? 1 : "any"}
      value={typeof value === "string" || typeof value === "number" ? value : ""}
      {...described}
      onChange={({ currentTarget: { value: text } }) => {
        if (text === "") onChange(undefined);
        else onChange(isNumber ? Number(text) : text);
      }}
    />
  );
}
