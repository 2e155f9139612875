import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type Json } from "../../core/json.ts";
import { REDACTED } from "../../secrets/redacted-secrets.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { jsonText } from "./archive-format.ts";
import { replaceFile } from "./replace-file.ts";

/** The file in the directory of a backup in which a person fills in what the server did not show. */
export const SECRETS_FILE = "secrets.json";

/** JSON with its secrets filled in, and the places of those that are missing. */
interface Filled<T> {
  value: T;
  missing: string[];
}

/** The secrets that a backup lacks, by place: null until they are filled in. */
export class SecretsFile {
  readonly #file: string;
  readonly #values: Map<string, string | null>;

  private constructor(file: string, values: Map<string, string | null>) {
    this.#file = file;
    this.#values = values;
  }

  /** @throws CliError for a file that is not an object of texts and nulls */
  static async open(directory: string): Promise<SecretsFile> {
    const file = join(directory, SECRETS_FILE);
    const content = await readFile(file, "utf8").catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "{}";
      throw error;
    });
    const values = parse(content);
    if (values !== undefined) return new SecretsFile(file, values);
    throw new CliError(
      `${file} is not a JSON object whose values are texts, or null for what is still missing.`,
      { exitCode: EXIT.usage, code: "invalid_secrets" },
    );
  }

  /** The places that have no value yet. */
  get missing(): string[] {
    return [...this.#values].flatMap(([place, value]) => (value === null ? [place] : []));
  }

  /** Adds the places of secrets in JSON. Values that were filled in stay. */
  async add(prefix: string, json: Json): Promise<void> {
    const before = this.#values.size;
    for (const place of redactedPlaces(prefix, json)) {
      if (!this.#values.has(place)) this.#values.set(place, null);
    }
    if (this.#values.size === before) return;
    const sorted = [...this.#values].toSorted(([a], [b]) => (a < b ? -1 : 1));
    await replaceFile(this.#file, jsonText(Object.fromEntries(sorted)), 0o600);
  }

  /** The content of the file as it was before values were filled in; undefined without places. */
  get places(): string | undefined {
    if (this.#values.size === 0) return undefined;
    const places = [...this.#values.keys()].toSorted();
    return jsonText(Object.fromEntries(places.map((place) => [place, null])));
  }

  /** The value for a place, if it was filled in. */
  valueAt(place: string): string | undefined {
    return this.#values.get(place) ?? undefined;
  }

  /** @param prefix as it was added */
  fill<T extends Json>(prefix: string, json: T): Filled<T> {
    const missing: string[] = [];
    const value = mapRedacted(prefix, json, (place, shown) => {
      const given = this.#values.get(place);
      if (given == null) missing.push(place);
      return given ?? shown;
    });
    return { value: value as T, missing };
  }
}

function redactedPlaces(prefix: string, json: Json): string[] {
  const places: string[] = [];
  mapRedacted(prefix, json, (place, shown) => {
    places.push(place);
    return shown;
  });
  return places;
}

/** Replaces the texts that have the marker of a secret. */
function mapRedacted(
  place: string,
  json: Json,
  replace: (place: string, shown: string) => string,
): Json {
  if (typeof json === "string") return json.includes(REDACTED) ? replace(place, json) : json;
  if (Array.isArray(json))
    return json.map((value, index) => mapRedacted(`${place}[${index}]`, value, replace));
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      mapRedacted(`${place}.${name}`, value, replace),
    ]),
  );
}

function parse(content: string): Map<string, string | null> | undefined {
  try {
    const json = JSON.parse(content) as Json;
    if (!isJsonObject(json)) return undefined;
    const entries = Object.entries(json);
    const valid = entries.every(([, value]) => value === null || typeof value === "string");
    return valid ? new Map(entries as [string, string | null][]) : undefined;
  } catch {
    return undefined;
  }
}
