import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { type AgUiEvent, OWN, type StateChange } from "../wire/events.ts";
import type { AgUiOptions } from "../wire/options.ts";

/** The part of the client's state that the team writes: what its agents share with the page, and under `troupe` what the team shows. */
export class SharedState {
  readonly #share: AgUiOptions["state"];
  #own: JsonObject = { speaker: null };
  /** Undefined for a team whose agents want no state. */
  #shared: JsonObject | undefined;
  /** The changes of `#shared` that are sent: none, then all of it with the commit that has the client's part, then each. */
  #sends: "nothing" | "all_next" | "changes";
  #hasBegun = false;

  /** @param isFresh whether the stream starts a run, whose first turn takes what the client has set */
  constructor(share: AgUiOptions["state"], isFresh: boolean) {
    this.#share = share;
    this.#sends = isFresh ? "nothing" : "changes";
  }

  /** The whole of it, before anything is said. */
  begin(): AgUiEvent[] {
    if (this.#hasBegun || this.#share === "none") return [];
    this.#hasBegun = true;
    if (this.#shared !== undefined && this.#sends === "changes") return [this.#snapshot()];
    return this.#share === "whole"
      ? [{ type: "STATE_SNAPSHOT", snapshot: { [OWN]: this.#own } }]
      : [delta([{ op: "add", path: PATH, value: this.#own }])];
  }

  /** A turn of the run has ended, and its state follows. */
  turnEnds(): void {
    if (this.#sends === "nothing") this.#sends = "all_next";
  }

  /** @param members those that are left out stay as they are */
  change({ shared_state: given, ...members }: JsonObject): AgUiEvent[] {
    const [own, shared] = [this.#own, this.#shared];
    this.#own = { ...own, ...members };
    if (isJsonObject(given)) this.#shared = given;
    if (!this.#hasBegun) return [];
    if (isJsonObject(given) && this.#sends === "all_next") {
      this.#sends = "changes";
      return [this.#snapshot()];
    }
    const changes = changesOf(own, this.#own, PATH, DEPTH);
    if (this.#sends === "changes") changes.push(...changesOf(shared ?? {}, this.#shared ?? {}, ""));
    return changes.length > 0 ? [delta(changes)] : [];
  }

  #snapshot(): AgUiEvent {
    return { type: "STATE_SNAPSHOT", snapshot: { ...this.#shared, [OWN]: this.#own } };
  }
}

const PATH = `/${OWN}`;

/** Ledgers and graph change by their members. */
const DEPTH = 2;

/** @param depth levels of objects that change by their members; the others are replaced */
function changesOf(
  before: JsonObject,
  after: JsonObject,
  path: string,
  depth = Infinity,
): StateChange[] {
  const removed = Object.keys(before)
    .filter((name) => !Object.hasOwn(after, name))
    .map((name): StateChange => ({ op: "remove", path: `${path}/${escaped(name)}` }));
  const changed = Object.entries(after).flatMap(([name, value]): StateChange[] => {
    const contentPath = `${path}/${escaped(name)}`;
    const old: Json | undefined = before[name];
    if (old === value) return [];
    if (depth > 1 && isJsonObject(old) && isJsonObject(value)) {
      return changesOf(old, value, contentPath, depth - 1);
    }
    // "add" replaces what is there.
    return JSON.stringify(old) === JSON.stringify(value)
      ? []
      : [{ op: "add", path: contentPath, value }];
  });
  return [...removed, ...changed];
}

/** A name as a segment of a JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function delta(changes: StateChange[]): AgUiEvent {
  return { type: "STATE_DELTA", delta: changes };
}
