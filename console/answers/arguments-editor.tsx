import { lazy, Suspense, useState } from "react";
import { Boundary } from "../parts/boundary.tsx";
import { Fold } from "../parts/fold.tsx";
import { CodeBlock } from "../text/code-block.tsx";

const SchemaForm = lazy(async () => {
  const { SchemaForm: component } = await import("../forms/schema-form.tsx");
  return { default: component };
});
const Changes = lazy(async () => {
  const { Changes: component } = await import("../forms/changes.tsx");
  return { default: component };
});

interface ArgumentsEditorProps {
  text: string;
  /** JSON Schema of the arguments. */
  parameters: object | undefined;
  /** The arguments as the model wrote them. */
  before: object;
  onChange: (text: string) => void;
}

/**
 * An editor for the arguments of a tool call, with fields if the tool declares its parameters, or as JSON. It lists the
 * changes.
 */
export function ArgumentsEditor({ text, parameters, before, onChange }: ArgumentsEditorProps) {
  const value = objectIn(text);
  const fits = parameters !== undefined && hasProperties(parameters);
  const [asJson, setAsJson] = useState(!fits);
  const inFields = fits && !asJson && value !== undefined;
  return (
    <div className="stack">
      {fits && (
        <div className="segments" role="group" aria-label="Edit as">
          <button type="button" aria-pressed={inFields} onClick={() => setAsJson(false)}>
            Form
          </button>
          <button type="button" aria-pressed={!inFields} onClick={() => setAsJson(true)}>
            JSON
          </button>
        </div>
      )}
      {inFields ? (
        <Boundary
          fallback={<p className="muted">These arguments have no form. Edit them as JSON.</p>}
        >
          <Suspense fallback={<Loading />}>
            <SchemaForm
              schema={parameters}
              value={value}
              autoFocus
              onChange={(next) => onChange(JSON.stringify(next, null, 2))}
            />
          </Suspense>
        </Boundary>
      ) : (
        <label className="field">
          <span>Arguments</span>
          <textarea
            className="code"
            rows={Math.min(14, text.split("\n").length + 1)}
            spellCheck={false}
            autoFocus
            value={text}
            onChange={(event) => onChange(event.target.value)}
          />
        </label>
      )}
      {value !== undefined && (
        <Suspense fallback={<Loading />}>
          <Changes before={before} after={value} />
        </Suspense>
      )}
      {parameters !== undefined && (
        <Fold icon="tool" title="Parameters of the tool" source="">
          <CodeBlock code={JSON.stringify(parameters, null, 2)} language="json" />
        </Fold>
      )}
    </div>
  );
}

function Loading() {
  return (
    <p className="loading" role="status">
      Loading
    </p>
  );
}

/** Undefined while the text is not a JSON object. */
function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function hasProperties(parameters: object): boolean {
  const { properties } = parameters as { properties?: unknown };
  return (
    typeof properties === "object" && properties !== null && Object.keys(properties).length > 0
  );
}
