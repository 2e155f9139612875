import { sentenceOf } from "../parts/error-words.ts";
import { useEffect, useState } from "react";
import { ApiError, type TroupeClient } from "troupe/client";
import { useTroupe } from "troupe/react";
import type { JsonPlaces, Mistake } from "./json-places.ts";

type Component = Parameters<TroupeClient["validate"]>[0];

export interface Validation {
  checking: boolean;
  /** The component, once it is known to be valid. */
  component: Component | undefined;
  mistakes: readonly Mistake[];
  /** The JSON that a text of Python stands for. */
  json?: string | undefined;
  /** Remarks on a valid component. */
  notes: readonly Mistake[];
}

const NOTHING: Validation = { checking: false, component: undefined, mistakes: [], notes: [] };
/** Checked when typing pauses. */
const PAUSE_MS = 300;

/** The mistakes in a component, with their lines in the text. */
export function useValidation(text: string): Validation {
  const client = useTroupe();
  const [validation, setValidation] = useState(NOTHING);
  useEffect(() => {
    if (text.trim() === "") {
      setValidation(NOTHING);
      return undefined;
    }
    let current = true;
    setValidation((last) => ({ ...last, checking: true, component: undefined }));
    const timer = setTimeout(() => {
      void check(client, text).then((result) => current && setValidation(result));
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, text]);
  return validation;
}

async function check(client: TroupeClient, text: string): Promise<Validation> {
  const { jsonPlaces, pythonMistake } = await import("./json-places.ts");
  const places = jsonPlaces(text);
  if (places.error !== undefined) {
    const { json, message = places.error.message } = pythonMistake(text) ?? {};
    return { ...NOTHING, json, mistakes: [{ ...places.error, message }] };
  }
  const component = places.value as Component;
  try {
    const { notes } = await client.validate(component);
    return { ...NOTHING, component, notes: located(notes, places) };
  } catch (error) {
    const problem = error instanceof ApiError ? error.problem : undefined;
    const mistakes = problem?.errors ?? [{ path: "", message: sentenceOf(error as Error) }];
    return { ...NOTHING, mistakes: located(mistakes, places) };
  }
}

function located(
  issues: readonly { path: string; message: string }[],
  places: JsonPlaces,
): Mistake[] {
  return issues.map(({ path, message }) => ({
    path,
    message: places.explained(path, message),
    line: places.lineOf(path),
  }));
}
