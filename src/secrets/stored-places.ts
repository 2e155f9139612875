import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Keys } from "./secret-fields.ts";

/**
 * Finds the parts of a component in the one that it replaces: an item of a list by the name in its config, or, without a name, as
 * the one that is the same; one that is new there by its position. What is not an item of a list has its key.
 */
export class StoredPlaces {
  readonly #stored: JsonObject;
  readonly #given: JsonObject;
  /** For each given list, the place of each of its items in the stored list. */
  readonly #pairs = new Map<readonly Json[], readonly number[]>();

  /** Both without their secrets. */
  constructor(stored: JsonObject, given: JsonObject) {
    this.#stored = stored;
    this.#given = given;
  }

  /** @param keys a place in the given component @returns the place of the same part in the stored one */
  of(keys: Keys): Keys {
    let [stored, given]: (Json | undefined)[] = [this.#stored, this.#given];
    return keys.map((key) => {
      const found = typeof key === "number" ? this.#indexOf(key, stored, given) : key;
      [stored, given] = [inside(stored, found), inside(given, key)];
      return found;
    });
  }

  #indexOf(index: number, stored: Json | undefined, given: Json | undefined): number {
    if (!Array.isArray(stored) || !Array.isArray(given)) return index;
    const pairs = this.#pairs.get(given) ?? paired(stored, given);
    this.#pairs.set(given, pairs);
    return pairs[index] ?? index;
  }
}

/** The index of the stored item for each given one. */
function paired(stored: readonly Json[], given: readonly Json[]): number[] {
  const [before, after] = [indexesByIdentity(stored), indexesByIdentity(given)];
  const found = new Map<number, number>();
  for (const [identity, indexes] of after) {
    const candidates = before.get(identity) ?? [];
    // It is not known which of several that are the same has gone.
    if (candidates.length !== indexes.length) continue;
    for (const [nth, index] of indexes.entries()) found.set(index, candidates[nth] ?? index);
  }
  // Another name in the same position is a new name.
  const taken = new Set(found.values());
  const isFree = (index: number): boolean => index < stored.length && !taken.has(index);
  const others = [...given.keys()].filter((index) => !found.has(index));
  const moved = others.filter((index) => !isFree(index));
  for (const index of others.filter(isFree)) found.set(index, index);
  const left = [...stored.keys()].filter((index) => isFree(index) && found.get(index) !== index);
  for (const [nth, index] of moved.entries()) found.set(index, left[nth] ?? index);
  return [...given.keys()].map((index) => found.get(index) ?? index);
}

function indexesByIdentity(items: readonly Json[]): Map<string, number[]> {
  const indexes = new Map<string, number[]>();
  for (const [index, item] of items.entries()) {
    const identity = identityOf(item);
    const same = indexes.get(identity);
    if (same === undefined) indexes.set(identity, [index]);
    else same.push(index);
  }
  return indexes;
}

function identityOf(item: Json): string {
  const config = isJsonObject(item) ? item["config"] : undefined;
  const name = isJsonObject(config) ? config["name"] : undefined;
  return typeof name === "string" ? `named ${name}` : JSON.stringify(item);
}

function inside(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, Json>)[key];
}
