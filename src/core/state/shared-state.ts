import { type Issue, ValueError } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";

/** Limits of a shared state: its characters as JSON, and how deep its values are nested. */
const MOST_CHARACTERS = 64_000;
const DEEPEST = 32;

/** A page's state has this member for what the server shows of the team. */
export const OWN_MEMBER = "troupe";

/** The data that the agents of a team and the page of its user share: a JSON object of bounded size. */
export class SharedState {
  #value: JsonObject = {};
  #atTurn: JsonObject = {};

  get value(): JsonObject {
    return this.#value;
  }

  get isEmpty(): boolean {
    return Object.keys(this.#value).length === 0;
  }

  /** The value if the turn has changed it, or null. A turn that runs again has the same one when it begins. */
  get changed(): JsonObject | null {
    return this.#value === this.#atTurn ? null : this.#value;
  }

  /** @param given members that the page has set */
  beginTurn(given: JsonObject = {}): void {
    this.#atTurn = this.#value = { ...this.#value, ...given };
  }

  replace(value: JsonObject): void {
    this.#value = value;
  }

  /**
   * @param changes a JSON Merge Patch (RFC 7396)
   * @param path where the changes are, for the error
   * @throws ValueError when they would make a state that cannot be shared
   */
  change(changes: JsonObject, path: string): void {
    // Before they are merged: an assignment to `__proto__` makes no member.
    requireShareable(changes, path);
    const next = merged(this.#value, changes);
    requireShareable(next, path);
    this.#value = next;
  }

  /** Makes changes once more that were checked before. */
  apply(changes: JsonObject): void {
    this.#value = merged(this.#value, changes);
  }
}

/** A value with a JSON Merge Patch: objects are merged, null removes a member, everything else replaces what was there. */
export function merged(value: Json | undefined, changes: JsonObject): JsonObject {
  const result: JsonObject = isJsonObject(value) ? { ...value } : {};
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) delete result[name];
    else result[name] = isJsonObject(change) ? merged(result[name], change) : change;
  }
  return result;
}

/** @throws ValueError for a state that is too large or too deep, or that has a name with a meaning of its own */
export function requireShareable(state: JsonObject, path: string): void {
  const issues = issuesOfState(state, path);
  if (issues.length === 0) return;
  const text = issues.map((issue) => `${issue.path} ${issue.message}`).join("; ");
  throw new ValueError(text, { issues });
}

function issuesOfState(state: JsonObject, path: string): Issue[] {
  if (OWN_MEMBER in state) {
    return [{ path: `${path}.${OWN_MEMBER}`, message: "is written by the server alone" }];
  }
  const issue = issueIn(state, path, DEEPEST);
  if (issue !== undefined) return [issue];
  const size = JSON.stringify(state).length;
  if (size <= MOST_CHARACTERS) return [];
  const message = `would be ${size} characters long as JSON, and may have ${MOST_CHARACTERS}`;
  return [{ path, message }];
}

/** The first thing that is wrong inside a value. It is not followed deeper than it may be. */
function issueIn(value: Json, path: string, levels: number): Issue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return { path, message: `must not be nested more than ${DEEPEST} levels deep` };
  for (const [name, inner] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`;
    // Clients refuse patches with these names.
    if (name === "__proto__" || name === "constructor" || name === "prototype") {
      return { path: place, message: "must have another name" };
    }
    const issue = issueIn(inner, place, levels - 1);
    if (issue !== undefined) return issue;
  }
  return undefined;
}
