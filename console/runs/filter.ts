/** The parameters of `GET /v1/runs` that the page's address has. */
export const FILTERS = [
  "q",
  "team",
  "status",
  "model",
  "error",
  "from",
  "to",
  "min_cost",
  "order",
] as const;

export type FilterName = (typeof FILTERS)[number];

/** An empty text is not a filter. */
export type RunFilter = Readonly<Record<FilterName, string>>;

export function filterIn(parameters: URLSearchParams): RunFilter {
  const entries = FILTERS.map((name) => [name, parameters.get(name) ?? ""] as const);
  return Object.fromEntries(entries) as unknown as RunFilter;
}

/** The filter as parameters of `GET /v1/runs`. */
export function queryOf(filter: RunFilter): Partial<Record<FilterName, string>> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

/** True if the filter may leave out runs. */
export function leavesOut(filter: RunFilter): boolean {
  return FILTERS.some((name) => name !== "order" && filter[name] !== "");
}

/** True if the filter selects runs by when they ended. */
export function hasRange({ from, to }: RunFilter): boolean {
  return from !== "" || to !== "";
}
