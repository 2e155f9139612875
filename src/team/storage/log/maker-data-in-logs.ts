import type { Json } from "../../../core/json.ts";

/** The place of an item: path and generation of its log, the start of its row, and its number there. */
export type LogPlace = readonly [path: string, generation: number, start: number, n: number];

/** Items that a turn appends to a log. */
export interface Appended {
  path: string;
  generation: number;
  start: number;
  items: readonly unknown[];
}

/**
 * The data that models' makers want back (`troupe` of an assistant's message), as the logs of model contexts have it.
 * Other rows of the same turn name its place instead of repeating it.
 */
export class MakerDataInLogs {
  readonly #row: (path: string, generation: number, start: number) => readonly unknown[];
  readonly #places = new Map<string, LogPlace>();

  /**
   * @param row the items of a row
   * @param appended those whose data is replaced by its place
   */
  constructor(
    row: (path: string, generation: number, start: number) => readonly unknown[],
    appended: readonly Appended[] = [],
  ) {
    this.#row = row;
    for (const { path, generation, start, items } of appended) {
      for (const [n, item] of items.entries()) {
        const data = dataOf(item);
        if (data !== undefined)
          this.#places.set(JSON.stringify(data), [path, generation, start, n]);
      }
    }
  }

  placeOf(data: Json): LogPlace | undefined {
    return this.#places.size === 0 ? undefined : this.#places.get(JSON.stringify(data));
  }

  at([path, generation, start, n]: LogPlace): Json {
    return dataOf(this.#row(path, generation, start)[n]) ?? null;
  }
}

function dataOf(item: unknown): Json | undefined {
  return typeof item === "object" && item !== null ? (item as { troupe?: Json }).troupe : undefined;
}
