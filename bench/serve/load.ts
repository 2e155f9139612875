import { setTimeout as sleep } from "node:timers/promises";
import { median, percentile } from "../support/statistics.ts";
import type { Contender } from "./contender.ts";
import { readRun, type Streamed } from "./run-stream.ts";

export interface Shape {
  /** Runs at once, one after the other of these numbers. */
  levels: readonly number[];
  rounds: number;
  /** Conversations that are made in each round, and how many of them at once. */
  creations: { count: number; atOnce: number };
  /** Tokens of a run, and every how many milliseconds the model sends one. */
  tokens: number;
  everyMs: number;
}

/** So long a server has nothing to do before its memory is read. */
const QUIET_MS = 2_000;

/** One measurement with a number of runs at once. */
interface Level {
  runs: number;
  first: { p50: number; p99: number };
  whole: { p50: number; p99: number };
  tokensPerSecond: number;
}

/** The figures of a contender; medians of the rounds. */
export class Results {
  readonly name: string;
  readonly durable: string;
  readonly startMs: number;
  /** Resident bytes before the first conversation, and after the first round. */
  readonly idleBytes: number;
  loadedBytes = 0;
  readonly #conversations: number;
  readonly #created: number[] = [];
  readonly #levels = new Map<number, Level[]>();
  /** Why it was not measured with more runs at once. */
  failed: string | undefined;

  constructor({ name, durable, process }: Contender, shape: Shape) {
    this.name = name;
    this.durable = durable;
    this.startMs = process.startMs;
    this.idleBytes = process.memory();
    this.#conversations = shape.creations.count;
  }

  created(perSecond: number): void {
    this.#created.push(perSecond);
  }

  level(level: Level): void {
    this.#levels.set(level.runs, [...(this.#levels.get(level.runs) ?? []), level]);
  }

  get createdPerSecond(): number {
    return median(this.#created);
  }

  get bytesPerConversation(): number {
    return (this.loadedBytes - this.idleBytes) / this.#conversations;
  }

  get levels(): Level[] {
    return [...this.#levels].map(([runs, all]) => {
      const middle = (of: (level: Level) => number): number => median(all.map(of));
      return {
        runs,
        first: { p50: middle(({ first }) => first.p50), p99: middle(({ first }) => first.p99) },
        whole: { p50: middle(({ whole }) => whole.p50), p99: middle(({ whole }) => whole.p99) },
        tokensPerSecond: middle(({ tokensPerSecond }) => tokensPerSecond),
      };
    });
  }

  /** The most runs at once of which 99 of 100 took no longer than `mostMs`; 0 if none. */
  runsWithin(mostMs: number): number {
    const within = this.levels.filter(({ whole }) => whole.p99 <= mostMs);
    return Math.max(0, ...within.map(({ runs }) => runs));
  }
}

/** Puts the contenders under the same load in turn. */
export async function measureLoad(
  contenders: readonly Contender[],
  shape: Shape,
): Promise<Results[]> {
  const all = contenders.map((contender) => ({
    contender,
    results: new Results(contender, shape),
  }));
  for (let round = 0; round < shape.rounds; round++) {
    for (const { contender, results } of all) {
      if (results.failed !== undefined) continue;
      console.error(`Round ${round + 1}: ${contender.name}`);
      try {
        await measureRound(contender, shape, results);
      } catch (error) {
        results.failed = (error as Error).message;
      }
    }
  }
  return all.map(({ results }) => results);
}

async function measureRound(contender: Contender, shape: Shape, results: Results): Promise<void> {
  const { creations, levels, tokens } = shape;
  const ids: string[] = [];
  const began = performance.now();
  await atOnce(creations.atOnce, creations.count, async () => {
    ids.push(await contender.create());
  });
  results.created((ids.length * 1000) / (performance.now() - began));
  for (const runs of levels) {
    const started = performance.now();
    const streamed = await Promise.all(
      ids.slice(0, runs).map((id) => readRun(() => contender.stream(id), tokens)),
    );
    const seconds = (performance.now() - started) / 1000;
    const spread = (of: (one: Streamed) => number): { p50: number; p99: number } => {
      const values = streamed.map(of);
      return { p50: median(values), p99: percentile(values, 0.99) };
    };
    results.level({
      runs,
      first: spread(({ first }) => first),
      whole: spread(({ whole }) => whole),
      tokensPerSecond: (streamed.length * tokens) / seconds,
    });
  }
  if (results.loadedBytes === 0) {
    await sleep(QUIET_MS);
    results.loadedBytes = contender.process.memory();
  }
  await atOnce(creations.atOnce, ids.length, async (index) => contender.delete(ids[index] ?? ""));
}

/** Does something `count` times, at most `most` at once. */
export async function atOnce(
  most: number,
  count: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: most }, work));
}
