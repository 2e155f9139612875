import { setTimeout as sleep } from "node:timers/promises";
import type { FakeOpenAI } from "../../support/fake-openai/server.ts";
import type { Marker } from "../worker/protocol.ts";
import type { EffectsServer } from "./effects-server.ts";
import type { Kill } from "./kill.ts";
import { Workerd } from "./workerd.ts";

export interface SupervisorOptions {
  config: string;
  state: string;
  vars: Readonly<Record<string, string>>;
  heartbeatMs: number;
  /** One kill per process, in turn; the process after the last one lives on. */
  plan: readonly Kill[];
  fake: FakeOpenAI;
  effects: EffectsServer;
  onMarker(marker: Marker): void;
  onOutput(line: string): void;
  onKill?(kill: Kill): void;
  /** The process has ended, and the next one has not begun. */
  onDead?(): void;
}

/** The end of a run can be seen on disk before the worker says that its last write is durable. */
const LAST_CHANCE_MS = 2_000;
/** A last write takes as long as this many requests, on a machine that does much else. */
const SLOWER = 20;

/** Keeps a workerd running, kills it where the plan says, and starts it again at once. */
export class Supervisor {
  readonly workerd: Workerd;
  /** Kills of the plan that took place. */
  readonly killed: Kill[] = [];
  readonly #options: SupervisorOptions;
  #generation = 0;
  #modelRequests = 0;
  #effects = 0;
  #restarted: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #calm = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { config, state, vars, onOutput, effects } = options;
    this.workerd = new Workerd({
      config,
      state,
      vars,
      onOutput,
      onMarker: (marker) => {
        if (marker.kind === "kill") this.#kill();
        else options.onMarker(marker);
      },
    });
    effects.onEffect = () => {
      this.#effects++;
      const { current } = this;
      if (current?.at === "effect" && this.#effects === current.occurrence) this.#kill();
    };
  }

  /** The kill that the present process is to die of. */
  get current(): Kill | undefined {
    return this.#options.plan[this.#generation];
  }

  async start(): Promise<void> {
    const { current } = this;
    const { heartbeatMs, fake } = this.#options;
    this.#effects = 0;
    this.#modelRequests = fake.requests.length;
    const point = current?.at === "write" ? current : null;
    await this.workerd.start({ point, heartbeatMs });
    if (current?.at === "time") this.#timer = setTimeout(() => this.#kill(), current.ms);
    if (current?.at === "model") void this.#watchModel(current, this.#generation);
  }

  /** Resolves when no restart is under way. */
  async settled(): Promise<void> {
    let waited: Promise<void> | undefined;
    while (waited !== this.#restarted) {
      waited = this.#restarted;
      await waited;
    }
  }

  /** Kills no more, after a last chance for a kill that is about to take place. */
  async calm(): Promise<void> {
    const asked = performance.now();
    await fetch(`${this.workerd.origin}/healthz`).catch(() => undefined);
    const now = performance.now();
    const end = now + Math.max(LAST_CHANCE_MS, SLOWER * (now - asked));
    while (this.current?.at === "write" && performance.now() < end) await sleep(5);
    this.#calm = true;
    clearTimeout(this.#timer);
    await this.settled();
  }

  async close(): Promise<void> {
    await this.calm();
    await this.workerd.kill();
  }

  #kill(): void {
    const { current } = this;
    if (current === undefined || this.#calm) return;
    clearTimeout(this.#timer);
    this.#generation++;
    this.killed.push(current);
    this.#options.onKill?.(current);
    this.#restarted = this.workerd.kill().then(() => {
      this.#options.onDead?.();
      return this.start();
    });
  }

  async #watchModel(kill: Kill & { at: "model" }, generation: number): Promise<void> {
    const { fake } = this.#options;
    const first = this.#modelRequests;
    const reached = (): boolean => {
      if (this.#generation !== generation || this.#calm) return true;
      const request = fake.requests[first + kill.occurrence - 1];
      if (request === undefined) return false;
      if (kill.state === "received") return true;
      if (kill.state === "streaming") return request.chunks >= 3 || request.state === "done";
      return request.state === "done";
    };
    // Rejects when the run needs fewer requests than that: then this kill does not take place.
    await fake.log.until(reached, 60_000).catch(() => {});
    if (this.#generation === generation) this.#kill();
  }
}
