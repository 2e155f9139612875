import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { ApiError } from "troupe/client";
import { FieldErrors } from "./field-errors.tsx";
import { stepsOf } from "../parts/json-path.ts";
import { isWithin, type ValuePath } from "../component/value-path.ts";

export interface Mistake {
  place: ValuePath;
  message: string;
}

/** The places that a refusal of the server names. */
export function mistakesIn(error: Error | undefined): Mistake[] {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (problem?.errors ?? []).map(({ path, message }) => ({ place: stepsOf(path), message }));
}

export const Mistakes = createContext<readonly Mistake[]>([]);

/** The messages on a place and what is inside it. @param own only those on the place itself */
export function useMistakes(place: ValuePath, own = false): string[] {
  return useContext(Mistakes)
    .filter((mistake) => isWithin(mistake.place, place))
    .filter((mistake) => !own || mistake.place.length === place.length)
    .map(({ message }) => message);
}

/** True if a setting of a part is wrong that is not among these. */
function useWrongBeside(place: ValuePath, settings: readonly string[]): boolean {
  return useContext(Mistakes).some(({ place: wrong }) => {
    const [step, key] = wrong.slice(place.length);
    return (
      isWithin(wrong, place) &&
      step === "config" &&
      key !== undefined &&
      !settings.includes(String(key))
    );
  });
}

interface FoldedSettingsProps {
  title: string;
  /** The place of the part that has the settings. */
  place: ValuePath;
  /** Its settings that are shown elsewhere. */
  without: readonly string[];
  children: ReactNode;
}

/** Settings that are rarely needed. They unfold when one of them is wrong. */
export function FoldedSettings({ title, place, without, children }: FoldedSettingsProps) {
  const wrong = useWrongBeside(place, without);
  const [open, setOpen] = useState(wrong);
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
  place: ValuePath;
  /** The id by which the field refers to them. */
  id: string;
  /** True if its content has fields of its own. */
  own?: boolean;
}

/** The mistakes of a field. */
export function MistakesAt({ place, id, own = false }: MistakesAtProps) {
  return <FieldErrors id={id} messages={useMistakes(place, own)} />;
}
