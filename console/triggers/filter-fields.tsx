import { IconButton } from "../parts/icon-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Comparison, COMPARISON_NAMES, COMPARISONS, type TypedCondition } from "./filter.ts";

const NEW: TypedCondition = { argument: "", comparison: "equals", value: "" };

/** Examples of values of a comparison. */
const EXAMPLES: Readonly<Record<Comparison, string>> = {
  equals: "opened",
  in: "opened, reopened",
  above: "100",
  below: "100",
  matches: "^main$",
  missing: "",
};

interface FilterFieldsProps {
  conditions: readonly TypedCondition[];
  onChange: (conditions: readonly TypedCondition[]) => void;
}

/** The conditions of which one must hold for an event to start a run. */
export function FilterFields({ conditions, onChange }: FilterFieldsProps) {
  const change = (index: number, next: Partial<TypedCondition>): void =>
    onChange(conditions.map((one, other) => (other === index ? { ...one, ...next } : one)));
  return (
    <fieldset className="conditions">
      <legend>Filter (optional)</legend>
      <p className="muted">
        {conditions.length === 0
          ? "Each event starts a run."
          : "An event starts a run if any of these conditions holds."}
      </p>
      {conditions.map(({ argument, comparison, value }, index) => {
        const number = index + 1;
        return (
          <div key={index} className="condition" role="group" aria-label={`Condition ${number}`}>
            <input
              className="code"
              aria-label={`Path of condition ${number}`}
              placeholder="issue.state"
              required
              spellCheck={false}
              value={argument}
              onChange={({ target }) => change(index, { argument: target.value })}
            />
            <select
              aria-label={`Comparison of condition ${number}`}
              value={comparison}
              onChange={({ target }) =>
                change(index, { comparison: target.value as Comparison, value: "" })
              }
            >
              {COMPARISON_NAMES.map((name) => (
                <option key={name} value={name}>
                  {COMPARISONS[name]}
                </option>
              ))}
            </select>
            {comparison === "missing" ? (
              <select
                aria-label={`Value of condition ${number}`}
                value={value === "false" ? "false" : "true"}
                onChange={({ target }) => change(index, { value: target.value })}
              >
                <option value="true">yes</option>
                <option value="false">no</option>
              </select>
            ) : (
              <input
                aria-label={`Value of condition ${number}`}
                placeholder={EXAMPLES[comparison]}
                required
                spellCheck={false}
                value={value}
                onChange={({ target }) => change(index, { value: target.value })}
              />
            )}
            <IconButton
              small
              icon="bin"
              name={`Remove condition ${number}`}
              onClick={() => onChange(conditions.toSpliced(index, 1))}
            />
          </div>
        );
      })}
      <div>
        <button
          className="button small"
          type="button"
          onClick={() => onChange([...conditions, NEW])}
        >
          <Icon name="plus" />
          Add condition
        </button>
      </div>
    </fieldset>
  );
}
