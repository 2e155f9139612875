import type { ComponentData } from "../component/catalogue.ts";
import type { Mistake, Repair } from "../component/repairs.ts";
import type { ValuePath } from "../component/value-path.ts";
import { visibleName } from "../text/foreign.ts";

interface RepairProps {
  component: ComponentData;
  onChange: (component: ComponentData) => void;
  /** Leads to a place. */
  onShow: (path: ValuePath) => void;
}

/** A button that removes a mistake, or leads to the field that does. */
export function RepairButton({
  repair,
  component,
  onChange,
  onShow,
}: RepairProps & { repair: Repair }) {
  const { name, change, show } = repair;
  return (
    <button
      className="button small"
      type="button"
      onClick={() => {
        if (change !== undefined) onChange(change(component));
        if (show !== undefined) onShow(show);
      }}
    >
      {visibleName(name)}
    </button>
  );
}

/** Mistakes at the place that they are about. */
export function Flaws({ mistakes, ...props }: RepairProps & { mistakes: readonly Mistake[] }) {
  if (mistakes.length === 0) return null;
  return (
    <ul className="flaws" aria-label="What is missing">
      {mistakes.map(({ message, repair }) => (
        <li key={message}>
          {visibleName(message)} {repair && <RepairButton repair={repair} {...props} />}
        </li>
      ))}
    </ul>
  );
}
