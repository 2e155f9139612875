// Headers whose value is of the run: `context:user`.

import type { Issue } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { ALLOWED, PREFIX, referenceOf } from "../core/turn/context-reference.ts";
import type { RunContext } from "../core/turn/run-context.ts";
import type { Secrets } from "./dependencies.ts";
import { type GivenHeaders, openHeaders } from "./headers.ts";

/** True if a value of a config stands for a value of the run. */
function isOfRun(value: string): boolean {
  return referenceOf(value) !== undefined;
}

/** The value of the run that a value of a config stands for, as a header has it; undefined where the run has none. */
function valueOfRun(value: string, run: RunContext | undefined): string | undefined {
  const reference = referenceOf(value);
  if (reference === undefined || run === undefined) return undefined;
  if ("field" in reference) {
    const { field } = reference;
    return headerText(field === "run" ? run.id : run[field]);
  }
  const { key } = reference;
  return headerText(Object.hasOwn(run.metadata, key) ? run.metadata[key] : undefined);
}

/**
 * The headers to send, with the secrets and the values of the run that they refer to. A value that the run does not have leaves its
 * header out. A value of the run never counts as a reference to a secret.
 *
 * @param run undefined outside of a run
 * @throws TroupeError when a secret does not exist or must not be sent there
 */
export function openHeadersInRun(
  headers: GivenHeaders,
  secrets: Secrets,
  run: RunContext | undefined,
): Headers {
  const entries = Object.entries(headers);
  const own = entries.filter(([, value]) => !isOfRun(String(value)));
  const opened = openHeaders(Object.fromEntries(own), secrets);
  for (const [name, reference] of entries) {
    const value = valueOfRun(String(reference), run);
    if (value !== undefined) opened.set(name, value);
  }
  return opened;
}

/** The values of a run that headers have: runs with the same text send the same headers. */
export function valuesOfRun(headers: GivenHeaders, run: RunContext | undefined): string {
  const values = Object.entries(headers)
    .filter(([, value]) => isOfRun(String(value)))
    .map(([name, value]) => [name, valueOfRun(String(value), run) ?? null]);
  return values.length === 0 ? "" : JSON.stringify(values);
}

/** The issues of headers that refer to what no run has. @param path the place of the headers */
export function unknownValuesOfRun(
  headers: GivenHeaders | null | undefined,
  path: string,
): Issue[] {
  return Object.entries(headers ?? {})
    .filter(([, value]) => String(value).startsWith(PREFIX) && !isOfRun(String(value)))
    .map(([name, value]) => ({
      path: `${path}.${name}`,
      message: `refers to "${String(value)}", which no run has: allowed are ${ALLOWED}`,
    }));
}

/** The issues of an environment that refers to values of the run. @param path the place of the environment */
export function valuesOfRunInEnvironment(
  environment: { readonly [name: string]: string } | null | undefined,
  path: string,
): Issue[] {
  return Object.entries(environment ?? {})
    .filter(([, value]) => value.startsWith(PREFIX))
    .map(([name]) => ({
      path: `${path}.${name}`,
      message:
        'must not begin with "context:", because a program serves all runs of its team. Use the HTTP address of the server with StreamableHttpServerParams: its headers may have values of the run',
    }));
}

/**
 * A value as a header may have it: characters outside of visible ASCII are percent-encoded as UTF-8. So is the percent sign, because
 * two different values must not become the same text.
 */
function headerText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const bytes = new TextEncoder().encode(text);
  return Array.from(bytes, (byte) => {
    if (byte > 0x20 && byte < 0x7f && byte !== 0x25) return String.fromCharCode(byte);
    return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}
