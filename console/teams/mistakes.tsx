import type { Mistake } from "./json-places.ts";
import type { Validation } from "./use-validation.ts";

export function Mistakes({ id, validation }: { id: string; validation: Validation }) {
  const { mistakes, notes, component, checking } = validation;
  return (
    <div id={id} className="mistakes" role="status" aria-busy={checking}>
      {mistakes.length > 0 && <List mistakes={mistakes} kind="problem" />}
      {component !== undefined && <p className="valid">This component is valid.</p>}
      {notes.length > 0 && <List mistakes={notes} kind="notes" />}
    </div>
  );
}

function List({ mistakes, kind }: { mistakes: readonly Mistake[]; kind: string }) {
  return (
    <ul className={kind}>
      {mistakes.map(({ line, path, message }) => (
        <li key={`${path} ${message}`}>
          {line !== undefined && <b>Line {line} </b>}
          {path !== "" && <code>{path}</code>} {message}
        </li>
      ))}
    </ul>
  );
}
