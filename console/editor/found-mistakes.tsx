import { configOf, fieldsOf, textOf } from "../picture/component-json.ts";
import type { Mistake } from "../component/repairs.ts";
import { RepairButton } from "../inputs/flaw.tsx";
import { labelOf } from "../component/setting-labels.ts";
import { visibleName } from "../text/foreign.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { type ValuePath, valueAt } from "../component/value-path.ts";
import type { Checked } from "./use-checked.ts";

interface FoundMistakesProps {
  component: ComponentData;
  checked: Checked;
  onChange: (component: ComponentData) => void;
  /** Shows the place of a mistake. */
  onShow: (path: ValuePath) => void;
}

/** The mistakes in the changes, each with a button that shows its place and one that removes it, and the server's notes. */
export function FoundMistakes({ checked: { mistakes, notes }, ...props }: FoundMistakesProps) {
  return (
    <div className="found-mistakes" role="status">
      {mistakes.length > 0 && (
        <ul className="problem" aria-label="Mistakes">
          <Items of={mistakes} {...props} />
        </ul>
      )}
      {mistakes.length === 0 && notes.length > 0 && (
        <ul className="notes" aria-label="Notes on the changes">
          <Items of={notes} {...props} />
        </ul>
      )}
    </div>
  );
}

function Items({ of, ...props }: Omit<FoundMistakesProps, "checked"> & { of: readonly Mistake[] }) {
  return of.map(({ path, message, repair }) => (
    <li key={`${path.join(".")} ${message}`}>
      <button className="button quiet small" type="button" onClick={() => props.onShow(path)}>
        {whereIs(props.component, path)}
      </button>{" "}
      {visibleName(message)} {repair && <RepairButton repair={repair} {...props} />}
    </li>
  ));
}

/** `writer: Model`: the innermost agent around a place, and its last key; `critic to writer` for an edge. */
export function whereIs(component: ComponentData, path: ValuePath): string {
  const list = path.lastIndexOf("edges");
  const target = fieldsOf(valueAt(component, path.slice(0, list + 2)))["target"];
  if (list !== -1 && typeof target === "string") {
    return visibleName(`${path[list - 1]} to ${target}`);
  }
  const around = path.map((_, index) => path.slice(0, index + 1));
  const member = around.findLast((outer) => outer.at(-2) === "participants");
  const agent = member && textOf(configOf(valueAt(component, member))["name"]);
  const key = path.findLast((step) => typeof step === "string" && step !== "config") ?? "component";
  const what = labelOf(String(key));
  return visibleName(agent ? `${agent}: ${what}` : what);
}
