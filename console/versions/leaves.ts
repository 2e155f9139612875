/**
 * The values in component JSON by their places, for comparisons. An item of a list is named as its component, so that it stays the
 * same where others come before it.
 */
export function leavesOf(value: unknown, place = ""): { [place: string]: unknown } {
  if (typeof value !== "object" || value === null) return { [place]: value };
  const entries: (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((item: unknown, index) => [`${place}[${nameOf(item) ?? index}]`, item] as const)
    : Object.entries(value).map(([key, inner]) => [place === "" ? key : `${place}.${key}`, inner]);
  if (entries.length === 0) return { [place]: value };
  return Object.assign({}, ...entries.map(([inner, item]) => leavesOf(item, inner))) as {
    [place: string]: unknown;
  };
}

function nameOf(item: unknown): string | undefined {
  const name = (item as { config?: { name?: unknown } } | null)?.config?.name;
  return typeof name === "string" ? name : undefined;
}
