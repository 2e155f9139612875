const OPEN_RANGE = /^(.*)\[(\d+)\.\.\]$/;

/**
 * Tests whether a path lies at or below one of some places. `events[3..]` stands for the fourth event and all after it.
 */
export function liesIn(places: readonly string[]): (path: string) => boolean {
  const tests = places.map((place) => {
    const range = OPEN_RANGE.exec(place);
    if (range === null) return (path: string) => isAtOrBelow(path, place);
    const [, list = "", from] = range;
    return (path: string) => {
      const index = /^\[(\d+)\]/.exec(path.startsWith(list) ? path.slice(list.length) : "")?.[1];
      return index !== undefined && Number(index) >= Number(from);
    };
  });
  return (path) => tests.some((test) => test(path));
}

/** How many of a step's requests to models are not among some places. */
export function comparedCalls(places: readonly string[]): number {
  const from = places.map((place) => {
    if (place === "model_calls") return 0;
    const [, list, index] = OPEN_RANGE.exec(place) ?? [];
    return list === "model_calls" ? Number(index) : Number.POSITIVE_INFINITY;
  });
  return Math.min(...from);
}

function isAtOrBelow(path: string, place: string): boolean {
  return path === place || (path.startsWith(place) && /^[.[]/.test(path.slice(place.length)));
}
