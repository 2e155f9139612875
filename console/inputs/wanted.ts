import { createContext, type RefObject, useContext, useEffect, useState } from "react";
import { pathText } from "../parts/json-path.ts";
import { isWithin, type ValuePath } from "../component/value-path.ts";

/** The place of the field to which the user is led. */
export const Wanted = createContext<ValuePath | undefined>(undefined);

/** Marks a field with its place. */
export function at(path: ValuePath): { "data-at": string } {
  return { "data-at": pathText(path) };
}

/** True if a place belongs to a setting of a part that is not among these. */
export function isBeside(
  place: ValuePath | undefined,
  part: ValuePath,
  settings: readonly string[],
): boolean {
  if (place === undefined || !isWithin(place, part)) return false;
  const [step, key] = place.slice(part.length);
  return step === "config" && key !== undefined && !settings.includes(String(key));
}

/** True if something is unfolded: by the user, when something inside is wrong, and when the user is led inside. */
export function useUnfolded(
  first: boolean,
  isInside: (place: ValuePath | undefined) => boolean,
): [open: boolean, setOpen: (open: boolean) => void] {
  const wanted = useContext(Wanted);
  const [open, setOpen] = useState(first);
  const [seen, setSeen] = useState<ValuePath>();
  // In the same rendering, so that the field is there when the focus moves to it.
  if (wanted !== seen) {
    setSeen(wanted);
    if (isInside(wanted)) setOpen(true);
  }
  return [open, setOpen];
}

/** Moves the focus to the wanted field once it is there, or to the one around it. */
export function useWantedFocus(
  form: RefObject<HTMLElement | null>,
  wanted: ValuePath | undefined,
  ready: boolean,
): void {
  useEffect(() => {
    if (wanted === undefined || !ready) return;
    const place = pathText(wanted);
    const [nearest] = [...(form.current?.querySelectorAll<HTMLElement>("[data-at]") ?? [])]
      .filter(({ dataset: { at: known = "" } }) => isAround(known, place))
      .toSorted((a, b) => (b.dataset["at"]?.length ?? 0) - (a.dataset["at"]?.length ?? 0));
    const field = nearest?.querySelector<HTMLElement>("input, select, textarea, button, summary");
    (nearest ?? form.current)?.scrollIntoView({ block: "nearest" });
    field?.focus();
  }, [wanted, ready]);
}

function isAround(outer: string, place: string): boolean {
  return place.startsWith(outer) && /^$|[.[]/.test(place.charAt(outer.length));
}
