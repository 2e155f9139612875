import { useEffect, useMemo, useState } from "react";
import type { Catalogue, ComponentData } from "../component/catalogue.ts";
import { Mistakes, mistakesIn } from "../inputs/mistakes.tsx";
import { ModelFields } from "../fields/model-fields.tsx";
import { valueAt, withValue } from "../component/value-path.ts";
import { PromptField } from "../inputs/prompt-field.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { textOf } from "../picture/component-json.ts";
import { VariantRun } from "./variant-run.tsx";
import type { Variant, Varied } from "./variants.ts";

interface VariantColumnProps {
  letter: string;
  variant: Variant;
  /** The agent whose prompt and model vary. */
  subject: Varied | undefined;
  catalogue: Catalogue;
  /** True for the unchanged team. */
  isSame: boolean;
  /** The answer from which differences are marked. */
  compared: string | undefined;
  onAnswer: (fork: string, answer: string | undefined) => void;
  onChange: (component: ComponentData) => void;
  onKeep: () => void;
  /** Undefined where it cannot be removed. */
  onRemove: (() => void) | undefined;
}

/** A variant: its prompt and model, and its run. */
export function VariantColumn(props: VariantColumnProps) {
  const { letter, variant, subject, catalogue, isSame, compared } = props;
  const { onAnswer, onChange, onKeep, onRemove } = props;
  const { component, fork, error } = variant;
  const mistakes = useMemo(() => mistakesIn(error), [error]);
  // Beside its run, the settings would push the answer out of view.
  const [open, setOpen] = useState(fork === undefined);
  useEffect(() => setOpen(fork === undefined || error !== undefined), [fork, error]);
  const prompt = subject?.prompt;
  const model = subject?.model;
  return (
    <section className="variant" aria-label={`Variant ${letter}`}>
      <header>
        <h2>Variant {letter}</h2>
        {isSame && <span className="mark">the team as it is</span>}
        {onRemove && (
          <IconButton icon="bin" small name={`Remove variant ${letter}`} onClick={onRemove} />
        )}
      </header>
      <Mistakes value={mistakes}>
        <details
          className="variant-settings"
          open={open}
          onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
        >
          <summary>Settings</summary>
          <div className="stack">
            {prompt && (
              <PromptField
                path={prompt}
                placeholder="None"
                value={textOf(valueAt(component, prompt))}
                onChange={(text) =>
                  onChange(withValue(component, prompt, text === "" ? null : text))
                }
              />
            )}
            {model && (
              <ModelFields
                component={component}
                path={model}
                catalogue={catalogue}
                onChange={onChange}
              />
            )}
          </div>
        </details>
      </Mistakes>
      <Problem error={error} />
      {fork !== undefined && (
        <VariantRun
          key={fork}
          fork={fork}
          letter={letter}
          compared={compared}
          onAnswer={onAnswer}
          onKeep={onKeep}
        />
      )}
    </section>
  );
}
