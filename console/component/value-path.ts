/** The keys and indexes from a component to a value inside it. */
export type ValuePath = readonly (string | number)[];

/** Stands for a stored secret in a component. The server keeps the secret where this comes back. */
const KEPT_SECRET = "**********";

export function valueAt(root: unknown, path: ValuePath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as { [step: string]: unknown })[step];
  }
  return value;
}

/** A copy with another value at a place. Undefined removes a key or an item. */
export function withValue<T>(root: T, path: ValuePath, value: unknown): T {
  const [step, ...rest] = path;
  if (step === undefined) return value as T;
  const inner: unknown = withValue(valueAt(root, [step]), rest, value);
  if (Array.isArray(root)) {
    const items: readonly unknown[] = root;
    return items.toSpliced(Number(step), 1, ...(inner === undefined ? [] : [inner])) as T;
  }
  const { [step]: _, ...others } = (root ?? {}) as { [step: string]: unknown };
  return (inner === undefined ? others : { ...root, [step]: inner }) as T;
}

/** True if one place is the other or inside it. */
export function isWithin(path: ValuePath, outer: ValuePath): boolean {
  return outer.every((step, index) => path[index] === step);
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

/** A copy in which another text stands for the secrets that are stored for the same parts, as the server finds them. */
export function withStandIns<T>(value: T, stored: unknown): T {
  if (value === KEPT_SECRET && stored === KEPT_SECRET) return "stored" as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const before: readonly unknown[] = Array.isArray(stored) ? stored : [];
    return value.map((item, index) =>
      withStandIns(
        item,
        before.find((one) => identityOf(one) === identityOf(item)) ?? before[index],
      ),
    ) as T;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, own]) => [key, withStandIns(own, valueAt(stored, [key]))]),
  ) as T;
}

/** Identifies an item of a list: the name in its config, or all of it. */
function identityOf(item: unknown): string {
  const name = valueAt(item, ["config", "name"]);
  return typeof name === "string" ? `named ${name}` : JSON.stringify(item);
}

export function hasKeptSecrets(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).includes(KEPT_SECRET);
}
