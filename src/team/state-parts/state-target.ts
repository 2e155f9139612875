import { MOST_STATE_PARTS } from "../../contract/constants.ts";
import {
  ok,
  refuse,
  type Refused,
  refuseInput,
  type Result,
  temporarilyUnavailable,
} from "../../contract/result.ts";
import type {
  StagedState,
  StatePartEnd,
  StatePartHeader,
  StateRow,
} from "../../contract/team/state-parts.ts";
import type { AlarmSource, TeamAlarm } from "../storage/team-alarm.ts";
import type { BuildReadable } from "../engine/team-cache.ts";
import { eventOwner } from "../storage/log/event-log.ts";
import { logOwner } from "../storage/team-state.ts";
import { snapshotOwner } from "../storage/log/commits.ts";
import { objectKey } from "../storage/tables/meta-store.ts";
import type { Stores } from "../storage/stores.ts";
import { StagedRows } from "./staged-rows.ts";
import type { StateChecks } from "./state-checks.ts";

/** Staged parts are removed after this many milliseconds without progress. */
const ABANDONED_AFTER_MS = 86_400_000;

/** The record of the staged parts. */
interface Staged {
  state: string;
  turn: number;
  cancelled: boolean;
  /** Hash of the component with which the rows were checked. */
  component_version: number;
  parts: { [part: number]: { cursor: string | null } & StatePartEnd };
  /** When the last part arrived, epoch milliseconds. */
  at: number;
}

/** A part that is arriving; lost with the object, and then the part is sent again. */
interface Attempt {
  id: string;
  header: StatePartHeader;
  lines: number;
  checks: StateChecks;
}

/** The id of the last state that was loaded from parts. */
interface Loaded {
  state: string;
  epoch: number;
}

const STAGED = objectKey<Staged>("staged", ["state", "turn", "parts"]);
const LOADED = objectKey<Loaded>("loaded", ["state", "epoch"]);

export interface StateTargetOptions {
  stores: Stores;
  alarm: TeamAlarm;
  build: BuildReadable;
}

/**
 * A state that arrives in parts. Each part is checked and staged as it arrives, separate from the current state. The
 * commit checks that all parts have arrived and swaps the states in one transaction.
 */
export class StateTarget implements AlarmSource {
  readonly #stores: Stores;
  readonly #alarm: TeamAlarm;
  readonly #build: BuildReadable;
  readonly #rows: StagedRows;
  #attempt: Attempt | undefined;
  /** The beginning of its attempts' ids. */
  readonly #instance = crypto.randomUUID();
  /** Undefined before it is read; null for none. */
  #staged: Staged | null | undefined;

  constructor({ stores, alarm, build }: StateTargetOptions) {
    this.#stores = stores;
    this.#alarm = alarm;
    this.#build = build;
    this.#rows = new StagedRows(stores);
    alarm.serve(this);
  }

  get dueAt(): number | null {
    const staged = this.#read();
    return staged && staged.at + ABANDONED_AFTER_MS;
  }

  /** On alarm: removes abandoned parts. */
  onAlarm(): void {
    if ((this.dueAt ?? Infinity) <= Date.now()) this.discard();
  }

  info(): StagedState {
    const staged = this.#read();
    const parts = Object.entries(staged?.parts ?? {}).map(([part, { hash, lines }]) => ({
      part: Number(part),
      hash,
      lines,
    }));
    return { state: staged?.state ?? null, parts, complete: staged !== null && !missing(staged) };
  }

  async begin(header: StatePartHeader): Promise<Result<string>> {
    const { state, part, cursor, turn, cancelled } = header;
    if (part > MOST_STATE_PARTS) return wrongPart("part", `must be at most ${MOST_STATE_PARTS}`);
    if ((part === 1) !== (cursor === null))
      return wrongPart("cursor", "must be null in the first part alone");
    const { component, record } = this.#stores.team;
    let checks: StateChecks;
    try {
      const [subject, other] = [await this.#build(component), await this.#build(component)];
      // Imported here, because most teams need no schemas.
      checks = new (await import("./state-checks.ts")).StateChecks(
        subject.runnable,
        other.runnable,
      );
    } catch (error) {
      return refuseInput(error);
    }
    const { component_version } = record;
    let staged = this.#read();
    if (part === 1 && (staged?.state !== state || staged.component_version !== component_version)) {
      this.#rows.remove("all");
      staged = { state, turn, cancelled, component_version, parts: {}, at: 0 };
    }
    if (staged?.state !== state) {
      const present =
        staged === null
          ? "no part is staged"
          : `the staged parts are of ${JSON.stringify(staged.state)}`;
      return refuse(
        409,
        "other_state",
        `The part is of the state ${JSON.stringify(state)}, and ${present}: begin with its first part.`,
      );
    }
    const { [part]: _replaced, ...parts } = staged.parts;
    this.#stores.db.transaction(() => {
      this.#rows.remove(part);
      this.#note({ ...staged, parts });
    });
    const id = `${this.#instance}/${crypto.randomUUID()}`;
    this.#drop();
    this.#attempt = { id, header, lines: 0, checks };
    this.#alarm.set();
    return ok(id);
  }

  add(id: string, lines: readonly string[]): Result<null> {
    const attempt = this.#attempt;
    if (attempt?.id !== id) return this.#superseded(id);
    const { part } = attempt.header;
    const staged = this.#read();
    try {
      for (const line of lines) {
        const row = attempt.checks.read(line, attempt.lines + 2);
        const body = this.#bodyOf(row, attempt.header);
        if (body === undefined && staged?.parts[part - 1] === undefined) {
          this.#drop();
          return bodyBefore(part);
        }
        attempt.checks.require(row, body);
        this.#rows.add(part, attempt.lines++, row);
      }
      return ok(null);
    } catch (error) {
      this.#drop();
      return refuseInput(error);
    }
  }

  end(id: string, end: StatePartEnd): Result<StagedState> {
    const attempt = this.#attempt;
    const staged = this.#read();
    if (attempt?.id !== id || staged === null) return this.#superseded(id);
    const { part, cursor } = attempt.header;
    if (end.lines !== attempt.lines) {
      return wrongPart(
        "lines",
        `is ${end.lines}; the part has ${attempt.lines} lines between its first and its last`,
      );
    }
    this.#drop();
    this.#note({ ...staged, parts: { ...staged.parts, [part]: { cursor, ...end } } });
    this.#alarm.set();
    return ok(this.info());
  }

  discard(): void {
    this.#drop();
    this.#stores.db.transaction(() => {
      this.#rows.remove("all");
      this.#note(null);
    });
    this.#alarm.set();
  }

  /** Why the parts cannot be committed; undefined if they can, and "done" if they were. */
  refuseCommit(state: string): Refused | "done" | undefined {
    const staged = this.#read();
    const { epoch, component_version } = this.#stores.team.record;
    if (staged?.state !== state) {
      const loaded = this.#stores.meta.read(LOADED);
      if (loaded?.state === state && loaded.epoch === epoch) return "done";
      return refuse(
        409,
        "other_state",
        `No parts of the state ${JSON.stringify(state)} are staged.`,
      );
    }
    const lacks = missing(staged);
    if (lacks !== undefined)
      return refuse(409, "state_incomplete", `The state is not complete: ${lacks}.`);
    if (staged.component_version !== component_version) {
      return refuse(
        409,
        "component_replaced",
        "The component was replaced since the parts were checked: send them again.",
      );
    }
    return undefined;
  }

  /** Swaps the states, inside the transaction that begins the new epoch. @param turn the team's turn */
  commit(turn: number): void {
    const staged = this.#read() as Staged;
    const { log, meta, team } = this.#stores;
    this.#rows.swap(
      {
        turn,
        run: 0,
        next: 0,
        time: { at: Date.now(), ran: 0 },
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        event: log.last,
        since: log.last,
        empty: false,
        ...(staged.cancelled && { cancelled: true }),
      },
      staged.turn,
    );
    meta.write(LOADED, { state: staged.state, epoch: team.record.epoch });
    this.#note(null);
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#staged = undefined;
  }

  /** A large body came in lines before the row. */
  #bodyOf(row: StateRow, { part, turn }: StatePartHeader): unknown {
    return row.type === "text" || row.body !== null
      ? row.body
      : this.#rows.text(ownerOf(row, turn), part);
  }

  /** @param id names an attempt that is not the present one */
  #superseded(id: string): Refused {
    if (!id.startsWith(this.#instance)) {
      return temporarilyUnavailable(
        "The team was restarted while it stored the part: send it again.",
      );
    }
    return refuse(
      409,
      "part_superseded",
      "The part was started again in the meantime: send it again.",
    );
  }

  #drop(): void {
    this.#attempt?.checks.close();
    this.#attempt = undefined;
  }

  #read(): Staged | null {
    if (this.#staged === undefined) this.#staged = this.#stores.meta.read(STAGED) ?? null;
    return this.#staged;
  }

  #note(staged: Staged | null): void {
    const { meta } = this.#stores;
    this.#staged = staged && { ...staged, at: Date.now() };
    if (this.#staged === null) meta.remove(STAGED);
    else meta.write(STAGED, this.#staged);
  }
}

/** The owner name of a body in the lines before its row. @param turn the turn of the state */
function ownerOf(row: Exclude<StateRow, { type: "text" }>, turn: number): string {
  switch (row.type) {
    case "head":
      return snapshotOwner(row.path, turn);
    case "log":
      return logOwner(row.path, 0, row.start);
    case "message":
      return eventOwner(row.seq);
  }
}

/** Describes what is missing in the parts; undefined if they are complete. */
function missing({ parts }: Staged): string | undefined {
  let cursor: string | null = null;
  for (let part = 1; ; part++) {
    const found = parts[part];
    if (found === undefined) return `part ${part} is missing`;
    if (found.cursor !== cursor) return `part ${part} does not follow part ${part - 1}`;
    cursor = found.next_cursor;
    if (cursor === null) return undefined;
  }
}

function bodyBefore(part: number): Refused {
  return refuse(
    409,
    "state_incomplete",
    `Part ${part} has the end of a body that begins in part ${part - 1}: send that one first.`,
  );
}

function wrongPart(path: string, message: string): Refused {
  const detail = `${path} ${message}.`;
  return {
    ok: false,
    problem: { status: 422, code: "invalid_state", detail, errors: [{ path, message }] },
  };
}
