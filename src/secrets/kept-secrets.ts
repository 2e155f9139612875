import { componentsIn } from "../core/component/checks/find-issues.ts";
import { looksLikeComponent } from "../core/component/checks/limits.ts";
import type { ComponentModel } from "../core/component/component-model.ts";
import { pathOf } from "../core/issues.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { ENVIRONMENT, isSecretName, type Keys } from "./secret-fields.ts";
import { StoredPlaces } from "./stored-places.ts";

/** The facts about the components of a deployment: which one a secret belongs to, and where that one sends it. */
export interface SecretOwners {
  /** The paths of the components that are loaded for component JSON. @throws ComponentError */
  loadedPaths(component: ComponentModel): Promise<readonly string[]>;
  /** The address to which a model client sends its key; undefined for other components. */
  keyUrl(component: JsonObject): string | undefined;
}

/** Without that knowledge a secret belongs to the whole component. */
export const ONE_OWNER: SecretOwners = {
  loadedPaths: async () => ["component"],
  keyUrl: () => undefined,
};

/** The keys beside `config` that may be changed while a secret is kept. */
const HARMLESS_BESIDE: ReadonlySet<string> = new Set(["label", "description"]);

/**
 * The fields of a component's config that may be changed while a secret in it is kept: how it asks, what it is called and
 * how its answers are read, never where it sends the secret or which program gets it.
 */
const HARMLESS: ReadonlySet<string> = new Set(
  `
    name description system_message timeout k limit score_threshold distance_threshold policy approval approval_timeout_seconds
    tool_overrides tools_for json_schema return_type response_format model_info
    model_capabilities temperature top_p top_k max_tokens max_completion_tokens stop seed
    frequency_penalty presence_penalty repeat_penalty logit_bias stop_sequences reasoning_effort
    thinking parallel_tool_calls include_name_in_message add_name_prefixes max_retries retry num_ctx
    num_predict keep_alive think server_params.timeout server_params.sse_read_timeout
    server_params.read_timeout_seconds server_params.retry
  `
    .trim()
    .split(/\s+/),
);

/** May be changed unless that changes the server: clients of some makers know it by the model's name. */
const MODEL = "model";

/** A place in the stored component. */
export interface Candidate {
  keys: Keys;
  /**
   * The path of something that differs in the component that the secret belongs to, or in one inside it, and could send the
   * secret elsewhere; undefined when it may be kept.
   */
  difference: string | undefined;
}

/**
 * Compares a component with the one it replaces, both without their secrets.
 *
 * @see candidates
 */
export class KeptSecrets {
  readonly #stored: JsonObject;
  readonly #given: JsonObject;
  readonly #loaded: ReadonlySet<string>;
  readonly #keyUrl: SecretOwners["keyUrl"];
  readonly #places: StoredPlaces;

  /** @param loaded paths of the components that are loaded for `given` */
  constructor(
    stored: JsonObject,
    input: JsonObject,
    loaded: readonly string[],
    { keyUrl }: Pick<SecretOwners, "keyUrl">,
  ) {
    this.#stored = stored;
    this.#given = input;
    this.#loaded = new Set(loaded);
    this.#keyUrl = keyUrl;
    this.#places = new StoredPlaces(stored, input);
  }

  /**
   * The places at which the secret for a place may be stored: in the component that the place belongs to, which is the
   * stored one of its name, or else the one that was in its position. Inside of it, the place has to be the same.
   *
   * @param keys the place in the given component
   */
  candidates(keys: Keys): Candidate[] {
    const depth = this.#ownerDepth(keys);
    const owner = keys.slice(0, depth);
    const within = keys.slice(depth);
    const given = at(this.#given, owner);
    return [this.#places.of(owner), owner].map((stored) => ({
      keys: [...stored, ...within],
      difference: this.#difference(at(this.#stored, stored), given, { keys: owner }),
    }));
  }

  /** The innermost component around a secret that is loaded. The outermost one always is. */
  #ownerDepth(keys: Keys): number {
    const depths = keys.map((_, depth) => depth).toReversed();
    return depths.find((depth) => this.#isLoaded(keys.slice(0, depth))) ?? 0;
  }

  #isLoaded(keys: Keys): boolean {
    // A key with a dot could spell the path of another place.
    if (keys.some((key) => typeof key === "string" && /[.[\]]/.test(key))) return false;
    return looksLikeComponent(at(this.#given, keys)) && this.#loaded.has(pathOf(keys, "component"));
  }

  /** The path of a difference that matters. */
  #difference(
    stored: Json | undefined,
    raw: Json | undefined,
    location: SecretLocation,
  ): string | undefined {
    if (Array.isArray(stored) && Array.isArray(raw) && stored.length === raw.length) {
      return first(stored.keys(), (index) =>
        this.#difference(stored[index], raw[index], inside(location, index)),
      );
    }
    if (isJsonObject(stored) && isJsonObject(raw)) {
      const component = this.#isLoaded(location.keys) ? { stored, given: raw } : undefined;
      return first(new Set([...Object.keys(stored), ...Object.keys(raw)]), (key) => {
        const inner = inside(location, key, component);
        const values = [own(stored, key), own(raw, key)] as const;
        return this.#isHarmless(key, inner, values)
          ? undefined
          : this.#difference(...values, inner);
      });
    }
    return (stored ?? null) === (raw ?? null) ? undefined : pathOf(location.keys, "component");
  }

  #isHarmless(key: string, { keys, component, inConfig }: SecretLocation, values: Values): boolean {
    if (isSecretName(key) && !keys.includes(ENVIRONMENT)) return values.every(isTextOrMissing);
    if (component === undefined) return false;
    if (inConfig === undefined) return HARMLESS_BESIDE.has(key);
    const path = inConfig.join(".");
    if (path === MODEL) {
      const [stored, given] = [component.stored, component.given].map(this.#keyUrl);
      return stored !== undefined && stored === given;
    }
    return HARMLESS.has(path) && values.every((value) => [...componentsIn(value, "")].length === 0);
  }
}

type Values = readonly [stored: Json | undefined, given: Json | undefined];

interface SecretLocation {
  keys: Keys;
  /** The loaded component that has this key, or has it in its config. */
  component?: { stored: JsonObject; given: JsonObject } | undefined;
  /** The keys from that config. */
  inConfig?: Keys | undefined;
}

/** @param around the component that has the key, if it is one that is loaded */
function inside(
  outer: SecretLocation,
  key: string | number,
  around?: SecretLocation["component"],
): SecretLocation {
  const keys = [...outer.keys, key];
  if (around !== undefined) {
    return { keys, component: around, ...(key === "config" && { inConfig: [] }) };
  }
  const { component, inConfig } = outer;
  return inConfig === undefined ? { keys } : { keys, component, inConfig: [...inConfig, key] };
}

function at(json: JsonObject, keys: Keys): Json | undefined {
  let value: Json | undefined = json;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, Json>)[key];
  }
  return value;
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isTextOrMissing(value: Json | undefined): boolean {
  return value == null || typeof value === "string";
}

/** The first that a function finds. */
function first<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
