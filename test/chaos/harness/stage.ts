import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { PACED } from "../scenarios/scenario.ts";
import type { Marker } from "../worker/protocol.ts";
import { Api } from "./api.ts";
import { DiskView } from "./database.ts";
import { EffectsServer } from "./effects-server.ts";
import type { Kill } from "./kill.ts";
import type { Place } from "./place.ts";
import { Supervisor } from "./supervisor.ts";
import { HEARTBEAT_MS, SETTINGS } from "./trial.ts";

export interface StageOptions {
  plan: readonly Kill[];
  onMarker?(marker: Marker): void;
}

/** A service that is killed by a plan, with all it needs around it; for trials that are not a single run. */
export class Stage implements AsyncDisposable {
  readonly fake: FakeOpenAI;
  readonly effects: EffectsServer;
  readonly disk: DiskView;
  readonly supervisor: Supervisor;
  readonly api: Api;
  /** Labels of all writes and how often each occurred in the life of the first process. */
  readonly writes = new Map<string, number>();
  readonly output: string[] = [];
  /** When the service was killed last, or {@link touch} was called. */
  #lastKill = performance.now();
  readonly #state: string;

  private constructor(
    { scratch, config, sandbox }: Place,
    { plan, onMarker = () => {} }: StageOptions,
    fake: FakeOpenAI,
    effects: EffectsServer,
  ) {
    this.fake = fake;
    this.effects = effects;
    this.#state = mkdtempSync(join(scratch, "state-"));
    this.disk = new DiskView(this.#state);
    this.supervisor = new Supervisor({
      config,
      state: this.#state,
      vars: {
        ...SETTINGS,
        EFFECTS_URL: effects.url,
        SANDBOX_URL: sandbox.url,
        SANDBOX_KEY: sandbox.key,
      },
      heartbeatMs: HEARTBEAT_MS,
      plan,
      fake,
      effects,
      onMarker: (marker) => {
        onMarker(marker);
        if (marker.kind === "write" && this.supervisor.killed.length === 0)
          this.writes.set(marker.label, marker.occurrence);
      },
      onOutput: (line) => this.output.push(line),
      onKill: () => this.touch(),
    });
    this.api = new Api(
      () => this.supervisor.workerd.origin,
      () => this.supervisor.settled(),
    );
  }

  static async start(place: Place, options: StageOptions): Promise<Stage> {
    const fake = await startFakeOpenAI({ rules: [PACED] });
    const effects = new EffectsServer();
    await effects.listen();
    const stage = new Stage(place, options, fake, effects);
    await stage.supervisor.start();
    return stage;
  }

  /** Whether more than this many milliseconds have passed since the last kill. */
  later(ms: number): boolean {
    return performance.now() - this.#lastKill > ms;
  }

  /** Time counts from now. */
  touch(): void {
    this.#lastKill = performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor.close();
    await this.effects.close();
    await this.fake[Symbol.asyncDispose]();
    rmSync(this.#state, { recursive: true, force: true });
  }
}
