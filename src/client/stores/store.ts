/** The shortest time between state changes on hosts without animation frames, and in hidden tabs. */
const TICK_MS = 50;

export interface StoreOptions {
  /**
   * True to stay connected while the page is hidden. Default false: it continues where it was when the page is shown.
   * Browsers have only six connections to a server over HTTP/1.1, for all tabs together.
   */
  background?: boolean | undefined;
}

/** Globals that only some hosts have. */
const { requestAnimationFrame, cancelAnimationFrame } = globalThis as {
  requestAnimationFrame?: (callback: () => void) => number;
  cancelAnimationFrame?: (handle: number) => void;
};

/**
 * A state that follows the server while it has subscribers: the first one connects it, the last one disconnects it. Parts
 * that do not change stay the same objects. Changes are published together, once per animation frame.
 */
export abstract class Store<State extends object> {
  /** As in {@link StoreOptions}. */
  protected readonly background: boolean;
  readonly #initial: State;
  readonly #listeners = new Set<{ call: () => void }>();
  #state: State;
  #connection: AbortController | undefined;
  #cancelTick: (() => void) | undefined;

  protected constructor(initial: State, { background = false }: StoreOptions) {
    this.background = background;
    this.#initial = initial;
    this.#state = initial;
  }

  /** The current state, immutable. Without subscribers it is the initial state. */
  get state(): State {
    return this.#state;
  }

  get subscribers(): number {
    return this.#listeners.size;
  }

  /** Calls the listener after each change of the state. @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    // A listener may subscribe twice.
    const subscription = { call: listener };
    this.#listeners.add(subscription);
    if (this.subscribers === 1) this.reload();
    return () => {
      if (this.#listeners.delete(subscription) && this.subscribers === 0) this.#disconnect();
    };
  }

  /** Loads everything again, over a new connection: after an error that ended it, for example. */
  reload(): void {
    this.#disconnect();
    if (this.subscribers === 0) return;
    this.#connection = new AbortController();
    this.connect(this.#connection.signal);
  }

  /** Follows the server until the signal is aborted, starting with the initial state. */
  protected abstract connect(signal: AbortSignal): void;

  /** The current state; the same object as before if nothing has changed. */
  protected abstract read(): State;

  /** Schedules a publication after a change. */
  protected changed(): void {
    this.#cancelTick ??= onNextTick(() => {
      this.#cancelTick = undefined;
      this.#publish(this.read());
    });
  }

  #disconnect(): void {
    this.#connection?.abort();
    this.#connection = undefined;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.#publish(this.#initial);
  }

  #publish(state: State): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const { call } of this.#listeners) call();
  }
}

/** Uses a timer in hidden tabs, which get no animation frames but still show counts in their titles. @returns a function that
 * cancels it */
function onNextTick(callback: () => void): () => void {
  const cancel = (): void => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame?.(frame);
  };
  const publish = (): void => {
    cancel();
    callback();
  };
  const timer = setTimeout(publish, TICK_MS);
  const frame = requestAnimationFrame?.(publish);
  return cancel;
}
