/** State changes at most this often where there are no animation frames, and in tabs that nobody sees. */
const TICK_MS = 50;

export interface StoreOptions {
  /**
   * Whether it stays connected while nobody sees the page. Default false: it continues where it was when somebody does.
   * Browsers have only six connections to a server over HTTP/1.1, for all tabs together.
   */
  background?: boolean | undefined;
}

/** The globals that only some hosts have. */
const { requestAnimationFrame, cancelAnimationFrame } = globalThis as {
  requestAnimationFrame?: (callback: () => void) => number;
  cancelAnimationFrame?: (handle: number) => void;
};

/**
 * A state that follows the server while it has subscribers: the first one connects it, and it disconnects after the last.
 * Parts that do not change stay the same objects. It publishes its changes together, once per animation frame.
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

  /** The state now; before the first subscriber, and after the last one, the initial one. Immutable. */
  get state(): State {
    return this.#state;
  }

  get subscribers(): number {
    return this.#listeners.size;
  }

  /** Calls the listener after each change of the state. @returns what ends the subscription */
  subscribe(listener: () => void): () => void {
    // The same function may be subscribed twice.
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

  /** Follows the server until the signal is aborted, from a state of nothing. */
  protected abstract connect(signal: AbortSignal): void;

  /** The state as it is now; the same object as the last time if nothing has changed. */
  protected abstract read(): State;

  /** Something has changed: publishes it, soon. */
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

/** Frames do not come in tabs that nobody sees, whose titles may still count. @returns what calls it off */
function onNextTick(callback: () => void): () => void {
  const cancel = (): void => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame?.(frame);
  };
  const tick = (): void => {
    cancel();
    callback();
  };
  const timer = setTimeout(tick, TICK_MS);
  const frame = requestAnimationFrame?.(tick);
  return cancel;
}
