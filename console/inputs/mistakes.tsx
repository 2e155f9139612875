import { createContext, type ReactNode, useContext, useEffect } from "react";
import { ApiError } from "troupe/client";
import { FieldErrors } from "./field-errors.tsx";
import { stepsOf } from "../parts/json-path.ts";
import { explained, type Mistake } from "../component/repairs.ts";
import { isWithin, type ValuePath } from "../component/value-path.ts";
import { isBeside, useUnfolded } from "./wanted.ts";

/** The places that a refusal of the server names. */
export function mistakesIn(error: Error | undefined): Mistake[] {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (problem?.errors ?? []).map(({ path, message }) =>
    explained({ path: stepsOf(path), message }),
  );
}

export const Mistakes = createContext<readonly Mistake[]>([]);

/** The messages on a value and what is inside it. @param own only those on the value itself */
export function useMistakes(path: ValuePath, own = false): string[] {
  return useContext(Mistakes)
    .filter((mistake) => isWithin(mistake.path, path))
    .filter((mistake) => !own || mistake.path.length === path.length)
    .map(({ message }) => message);
}

interface FoldedSettingsProps {
  title: string;
  /** The path of the part that has the settings. */
  path: ValuePath;
  /** Its settings that are shown elsewhere. */
  without: readonly string[];
  children: ReactNode;
}

/** Settings that are rarely needed. They unfold when one of them is wrong or wanted. */
export function FoldedSettings({ title, path, without, children }: FoldedSettingsProps) {
  const wrong = useContext(Mistakes).some((mistake) => isBeside(mistake.path, path, without));
  const [open, setOpen] = useUnfolded(wrong, (place) => isBeside(place, path, without));
  useEffect(() => {
    if (wrong) setOpen(true);
  }, [wrong]);
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {open && children}
    </details>
  );
}

interface MistakesAtProps {
  path: ValuePath;
  /** The id by which the field refers to them. */
  id: string;
  /** True if its content has fields of its own. */
  own?: boolean;
}

/** The mistakes of a field. */
export function MistakesAt({ path, id, own = false }: MistakesAtProps) {
  return <FieldErrors id={id} messages={useMistakes(path, own)} />;
}
