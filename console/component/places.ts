/** The keys and indexes from a component to a value inside it. */
export type Place = readonly (string | number)[];

/** What a component shows instead of a stored secret. The server keeps the secret where this comes back in the same place. */
const KEPT_SECRET = "**********";

export function valueAt(root: unknown, place: Place): unknown {
  let value = root;
  for (const step of place) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as { [step: string]: unknown })[step];
  }
  return value;
}

/** A copy with another value at a place. Undefined removes a key or an item. */
export function withValue<T>(root: T, place: Place, value: unknown): T {
  const [step, ...rest] = place;
  if (step === undefined) return value as T;
  const inner: unknown = withValue(valueAt(root, [step]), rest, value);
  if (Array.isArray(root)) {
    const items: readonly unknown[] = root;
    return items.toSpliced(Number(step), 1, ...(inner === undefined ? [] : [inner])) as T;
  }
  const { [step]: _, ...others } = (root ?? {}) as { [step: string]: unknown };
  return (inner === undefined ? others : { ...root, [step]: inner }) as T;
}

/** Whether one place is the other or inside it. */
export function isWithin(place: Place, outer: Place): boolean {
  return outer.every((step, index) => place[index] === step);
}

/** A copy without stored secrets, for another place. */
export function withoutSecrets<T>(value: T): T {
  if (Array.isArray(value)) return value.filter(isNotKept).map(withoutSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => isNotKept(inner));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutSecrets(inner)])) as T;
}

function isNotKept(value: unknown): boolean {
  return value !== KEPT_SECRET;
}

/** A copy in which another text stands for the secrets that are stored in the same places. */
export function withStandIns<T>(value: T, stored: unknown): T {
  if (value === KEPT_SECRET && stored === KEPT_SECRET) return "stored" as T;
  if (typeof value !== "object" || value === null) return value;
  const inner = (step: string | number, own: unknown): unknown =>
    withStandIns(own, valueAt(stored, [step]));
  if (Array.isArray(value)) return value.map((item, index) => inner(index, item)) as T;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, inner(key, own)])) as T;
}

/** Whether a value has stored secrets, which are found again only in the same place. */
export function hasKeptSecrets(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).includes(KEPT_SECRET);
}
