import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { type AgUiEvent, OWN, type StateChange } from "../events.ts";
import type { AgUiOptions } from "../options.ts";

/** What a client's state has of the team: `speaker`, and what the team shows of its own state. */
export class SharedState {
  readonly #share: AgUiOptions["state"];
  #state: JsonObject = { speaker: null };
  #hasBegun = false;

  constructor(share: AgUiOptions["state"]) {
    this.#share = share;
  }

  /** The whole of it, before anything is said. */
  begin(): AgUiEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    switch (this.#share) {
      case "whole":
        return [{ type: "STATE_SNAPSHOT", snapshot: { [OWN]: this.#state } }];
      case "part":
        return [delta([{ op: "add", path: PATH, value: this.#state }])];
      case "none":
        return [];
    }
  }

  /** @param members those that are left out stay as they are */
  change(members: JsonObject): AgUiEvent[] {
    const before = this.#state;
    this.#state = { ...before, ...members };
    if (!this.#hasBegun || this.#share === "none") return [];
    const changes = changesOf(before, this.#state, PATH, DEPTH);
    return changes.length > 0 ? [delta(changes)] : [];
  }
}

const PATH = `/${OWN}`;

/** Ledgers and graph change by their members. Those have fixed names, which need no escape in a path. */
const DEPTH = 2;

function changesOf(
  before: JsonObject,
  after: JsonObject,
  path: string,
  depth: number,
): StateChange[] {
  return Object.entries(after).flatMap(([name, value]) => {
    const place = `${path}/${name}`;
    const old: Json | undefined = before[name];
    if (old === value) return [];
    if (depth > 1 && isJsonObject(old) && isJsonObject(value)) {
      return changesOf(old, value, place, depth - 1);
    }
    // "add" replaces what is there.
    return JSON.stringify(old) === JSON.stringify(value) ? [] : [{ op: "add", path: place, value }];
  });
}

function delta(changes: StateChange[]): AgUiEvent {
  return { type: "STATE_DELTA", delta: changes };
}
