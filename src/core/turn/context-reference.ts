import type { Json } from "../json.ts";

/** Begins a value of a config that stands for a value of the run: `context:user`. */
export const PREFIX = "context:";
const METADATA = "metadata.";
const FIELDS = ["user", "subject", "tenant", "team", "run"] as const;

/** The values that a config may refer to, for errors. */
export const ALLOWED = `${FIELDS.map((name) => PREFIX + name).join(", ")} and ${PREFIX}${METADATA}KEY`;

/** A field of the run's context, or a key of its metadata. */
export type ContextReference = { field: (typeof FIELDS)[number] } | { key: string };

/** The reference in a value of a config; undefined for other texts. */
export function referenceOf(value: string): ContextReference | undefined {
  if (!value.startsWith(PREFIX)) return undefined;
  const name = value.slice(PREFIX.length);
  const field = FIELDS.find((one) => one === name);
  if (field !== undefined) return { field };
  if (!name.startsWith(METADATA) || name.length === METADATA.length) return undefined;
  return { key: name.slice(METADATA.length) };
}

/** True if headers of component JSON have members of a run's metadata. */
export function sendsMetadata(component: Json, inHeaders = false): boolean {
  if (typeof component === "string") {
    const reference = inHeaders ? referenceOf(component) : undefined;
    return reference !== undefined && "key" in reference;
  }
  if (typeof component !== "object" || component === null) return false;
  return Object.entries(component).some(([key, value]) =>
    sendsMetadata(value, inHeaders || key === "headers"),
  );
}
