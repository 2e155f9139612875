import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Moment, StepFailure, StepOutcome } from "../../../core/turn/turn-host.ts";
import type { FailedAttempt } from "../../../telemetry/spans/stored-spans.ts";
import type { EventReferences } from "./event-references.ts";
import type { LogPlace, MakerDataInLogs } from "./maker-data-in-logs.ts";
import type { TracedStep } from "../runs/step-store.ts";

/** The most characters of the steps of a turn. The later ones are left out of a turn that has more. */
const MOST_CHARACTERS = 1_000_000;

/** A step of a turn that is over. */
export interface KeptStep {
  fingerprint: string;
  /** Missing in a step that was cut off. */
  outcome?: StepOutcome;
  /** The attempts that failed and were followed by another one. */
  failed: readonly FailedAttempt[];
  /** The part of an answer that had arrived when the last attempt failed. */
  cutOff?: string;
}

/** Shorter results are stored in each turn. */
const SHORTEST_KNOWN = 1_000;
/** The most results that {@link KnownResults} has, and the most characters of them. */
const MOST_KNOWN = 32;
const MOST_KNOWN_CHARACTERS = 500_000;

/** The turn and the key of a step. */
type StepPlace = readonly [turn: number, key: string];

/**
 * Long results of effects that a turn has stored, such as the list of an MCP server's tools, which every turn of its agent asks for. Later
 * turns name the place of an equal one. Forgotten with the object, which then stores them once more.
 */
export class KnownResults {
  /** By their JSON, the last used last. */
  readonly #places = new Map<string, StepPlace>();
  #characters = 0;

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#places.clear();
    this.#characters = 0;
  }

  find(json: string): StepPlace | undefined {
    const place = this.#places.get(json);
    if (place !== undefined) {
      this.#places.delete(json);
      this.#places.set(json, place);
    }
    return place;
  }

  add(json: string, place: StepPlace): void {
    if (this.#places.has(json)) return;
    this.#places.set(json, place);
    this.#characters += json.length;
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= MOST_KNOWN && this.#characters <= MOST_KNOWN_CHARACTERS) return;
      this.#places.delete(oldest);
      this.#characters -= oldest.length;
    }
  }
}

/** The place at which a turn that commits stores its steps. */
interface KeptIn {
  turn: number;
  /** Replaces what the turn has appended to model contexts. */
  inLogs: MakerDataInLogs;
  known: KnownResults;
}

/** Key, fingerprint, time of the outcome and running time at it, result, {@link RareStepFields}. The last ones may be missing. */
type StoredStep = readonly [
  key: string,
  fingerprint: string,
  at?: number | null,
  ran?: number | null,
  ok?: Json,
  rest?: RareStepFields,
];

interface RareStepFields {
  e?: StepFailure;
  f?: readonly FailedAttempt[];
  x?: string;
  /** The step of an earlier turn with the same result. */
  s?: StepPlace;
}

/**
 * The text of the steps of a turn that ends, so that the requests to its models can be written again. It is stored in a column of a row that
 * the end of the turn writes anyway. Undefined for a turn without steps.
 *
 * @param references replaces what the event log holds
 * @param keptIn missing for a turn that is given up
 */
export function keepSteps(
  steps: Iterable<readonly [key: string, step: TracedStep]>,
  references: EventReferences,
  keptIn?: KeptIn,
): string | undefined {
  const news = new Map<string, string>();
  let kept = [...steps].flatMap((step) => stored(step, keptIn, news));
  for (;;) {
    if (kept.length === 0) return undefined;
    const text = references.write(kept);
    if (text.length <= MOST_CHARACTERS) {
      for (const [key] of kept) {
        const json = news.get(key);
        if (keptIn && json !== undefined) keptIn.known.add(json, [keptIn.turn, key]);
      }
      return text;
    }
    kept = kept.slice(0, Math.floor(kept.length / 2));
  }
}

/** @param news takes the long results that no earlier turn has, by the keys of their steps */
function stored(
  [key, step]: readonly [string, TracedStep],
  keptIn: KeptIn | undefined,
  news: Map<string, string>,
): StoredStep[] {
  const { fingerprint, outcome, trace, kind } = step;
  let ok = outcome && "ok" in outcome ? withoutVectors(outcome.ok) : null;
  let same: StepPlace | undefined;
  if (keptIn && kind === "effect") {
    const json = JSON.stringify(ok);
    if (json.length >= SHORTEST_KNOWN) {
      same = keptIn.known.find(json);
      if (same === undefined) news.set(key, json);
    }
  }
  ok = same === undefined ? placed(ok, keptIn?.inLogs) : null;
  const rest: RareStepFields = {
    ...(outcome && "error" in outcome && { e: outcome.error }),
    ...(trace?.failed && { f: trace.failed }),
    ...(trace?.cutOff !== undefined && { x: trace.cutOff }),
    ...(same && { s: same }),
  };
  const hasRest = Object.keys(rest).length > 0;
  if (outcome === undefined) return hasRest ? [[key, fingerprint, null, null, null, rest]] : [];
  const { at, ran } = outcome.time;
  return [hasRest ? [key, fingerprint, at, ran, ok, rest] : [key, fingerprint, at, ran, ok]];
}

/** Vectors of embeddings are long, and no request depends on them. */
function withoutVectors(ok: Json): Json {
  if (!isJsonObject(ok) || !Array.isArray(ok.vectors)) return ok;
  return { ...ok, vectors: ok.vectors.map(() => "") };
}

/** Data that a model's maker wants back is in the model context: the step names its place there. */
function placed(ok: Json, inLogs: MakerDataInLogs | undefined): Json {
  if (inLogs === undefined || !isJsonObject(ok) || ok.troupe === undefined) return ok;
  const place = inLogs.placeOf(ok.troupe);
  return place === undefined ? ok : { ...ok, troupe: { place: [...place] } };
}

function resolved(ok: Json, inLogs: MakerDataInLogs): Json {
  if (!isJsonObject(ok) || !isJsonObject(ok.troupe) || !Array.isArray(ok.troupe.place)) return ok;
  return { ...ok, troupe: inLogs.at(ok.troupe.place as unknown as LogPlace) };
}

/**
 * The steps of a text that {@link keepSteps} made.
 *
 * @param textOf such a text of an earlier turn
 */
export function keptSteps(
  text: string,
  references: EventReferences,
  { inLogs, textOf }: { inLogs: MakerDataInLogs; textOf: (turn: number) => string | undefined },
): Map<string, KeptStep> {
  const read = (one: string): StoredStep[] => references.read(one) as StoredStep[];
  const resultAt = ([turn, key]: StepPlace): Json | undefined =>
    read(textOf(turn) ?? "[]").find(([other]) => other === key)?.[4];
  const steps = new Map<string, KeptStep>();
  for (const [key, fingerprint, at, ran, result = null, rest] of read(text)) {
    const ok = rest?.s === undefined ? resolved(result, inLogs) : (resultAt(rest.s) ?? null);
    const outcome = at == null || ran == null ? undefined : outcomeOf({ at, ran }, ok, rest?.e);
    steps.set(key, {
      fingerprint,
      failed: rest?.f ?? [],
      ...(outcome && { outcome }),
      ...(rest?.x !== undefined && { cutOff: rest.x }),
    });
  }
  return steps;
}

function outcomeOf(time: Moment, ok: Json, error: StepFailure | undefined): StepOutcome {
  return error === undefined ? { ok, time } : { error, time };
}
