import { configOf, textOf } from "../picture/component-json.ts";
import { stepsOf } from "../parts/json-path.ts";
import { titleOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { type ValuePath, valueAt } from "../component/value-path.ts";
import type { Checked } from "./use-checked.ts";

interface FoundMistakesProps {
  component: ComponentData;
  checked: Checked;
  /** Shows where a mistake is. */
  onShow: (path: ValuePath) => void;
}

/** The mistakes in the changes, each with a button that shows its place, and the server's notes. */
export function FoundMistakes({ component, checked, onShow }: FoundMistakesProps) {
  const { mistakes, notes } = checked;
  return (
    <div className="found-mistakes" role="status">
      {mistakes.length > 0 && (
        <ul className="problem" aria-label="Mistakes">
          {mistakes.map(({ path, message }) => (
            <li key={`${path.join(".")} ${message}`}>
              <button className="button quiet small" type="button" onClick={() => onShow(path)}>
                {whereIs(component, path)}
              </button>{" "}
              {message}
            </li>
          ))}
        </ul>
      )}
      {mistakes.length === 0 && notes.length > 0 && (
        <ul className="notes" aria-label="Notes on the changes">
          {notes.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <b>{whereIs(component, stepsOf(path))}</b> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** `writer: Model`: the innermost agent around a place, and its last key. */
export function whereIs(component: ComponentData, path: ValuePath): string {
  const around = path.map((_, index) => path.slice(0, index + 1));
  const member = around.findLast((outer) => outer.at(-2) === "participants");
  const agent = member && textOf(configOf(valueAt(component, member))["name"]);
  const key = path.findLast((step) => typeof step === "string" && step !== "config") ?? "component";
  const what = titleOf(String(key));
  return visibleName(agent ? `${agent}: ${what}` : what);
}
