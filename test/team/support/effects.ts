import { runInDurableObject } from "cloudflare:test";
import { Signal, type TestTeam } from "./team.ts";

/** Rounds without a change after which an object is quiet: on a busy machine, a chain of promises takes several. */
const STILL_ROUNDS = 3;

/**
 * What the models and agents of a kind of team do outside. All of it passes here, so that a test can hold, break and
 * count it. An effect goes by its place in the run, `1/speaker:a/model:0`: the step's key without the run.
 */
export class Effects {
  /** Places, in the order in which effects began, repeated ones included. */
  readonly begun: string[] = [];
  /** How often each came to its end, by step key. */
  readonly done = new Map<string, number>();
  /** Model calls that came to their end. */
  modelCalls = 0;
  readonly #inTheWay = new Map<string, () => Promise<void>>();

  /** One effect, from its beginning to its end. @param key the step's idempotency key */
  async run(key: string): Promise<void> {
    const place = placeOf(key);
    this.begun.push(place);
    await this.#inTheWay.get(place)?.();
    this.done.set(key, (this.done.get(key) ?? 0) + 1);
  }

  /** Resolves when the effect has begun that often. */
  async until(place: string, times = 1): Promise<void> {
    const there = (): boolean => this.begun.filter((other) => other === place).length >= times;
    // Looks again and again: a promise that an object settles does not wake a test that waits for nothing else.
    while (!there()) await moment();
  }

  /**
   * Resolves when nothing begins any more: all that runs is held or hangs. An object that is lost before that does
   * things it cannot record. What waits for its writes to be on the disk begins after them.
   */
  async quiet({ stub }: Pick<TestTeam, "stub">): Promise<void> {
    let before = -1;
    for (let still = 0; still < STILL_ROUNDS; still++) {
      if (before !== this.#steps) still = 0;
      before = this.#steps;
      await runInDurableObject(stub, (_instance, { storage }) => storage.sync());
      await moment();
    }
  }

  /** Effects that have begun and that have ended. */
  get #steps(): number {
    let ended = 0;
    for (const times of this.done.values()) ended += times;
    return this.begun.length + ended;
  }

  /** The first attempt comes to no end. A promise that a test settles would keep the object alive. */
  hang(place: string): void {
    this.#inTheWay.set(place, () => {
      this.#inTheWay.delete(place);
      return new Promise(() => {});
    });
  }

  /** Holds the effect until the returned function is called; with an error, the effect fails. */
  hold(place: string): (error?: Error) => void {
    const go = new Signal();
    let fault: Error | undefined;
    this.#inTheWay.set(place, async () => {
      await go.wait();
      if (fault) throw fault;
    });
    return (error) => {
      fault = error;
      this.#inTheWay.delete(place);
      go.set();
    };
  }

  /** Lets the effect fail until the returned function is called. */
  break(place: string, error: Error): () => void {
    this.#inTheWay.set(place, () => Promise.reject(error));
    return () => void this.#inTheWay.delete(place);
  }

  /** Lets the first attempt fail. */
  breakOnce(place: string, error: Error): void {
    this.#inTheWay.set(place, () => {
      this.#inTheWay.delete(place);
      return Promise.reject(error);
    });
  }

  /** Places of effects that came to their end more than once. */
  get repeated(): string[] {
    return [...this.done].filter(([, times]) => times > 1).map(([key]) => placeOf(key));
  }
}

function moment(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 3);
  });
}

function placeOf(key: string): string {
  return decodeURI(key.slice(key.indexOf("/") + 1));
}
