import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import type { Marker } from "../worker/protocol.ts";
import { Api } from "./api.ts";
import type { Place } from "./place.ts";
import { SETTINGS } from "./trial.ts";
import { Workerd } from "./workerd.ts";

export interface ServiceOptions {
  /** No alarm is set further ahead than that, in milliseconds. */
  heartbeatMs?: number;
  onMarker?: (marker: Marker) => void;
}

/** A service that is killed by the case alone, with a model of its own. */
export class Service implements AsyncDisposable {
  readonly fake: FakeOpenAI;
  readonly api: Api;
  readonly #workerd: Workerd;
  readonly #heartbeatMs: number;

  private constructor(
    { scratch, config, sandbox }: Place,
    fake: FakeOpenAI,
    { heartbeatMs = 15_000, onMarker = () => undefined }: ServiceOptions,
  ) {
    this.fake = fake;
    this.#heartbeatMs = heartbeatMs;
    this.#workerd = new Workerd({
      config,
      state: mkdtempSync(join(scratch, "state-")),
      vars: {
        ...SETTINGS,
        EFFECTS_URL: "http://127.0.0.1:1",
        SANDBOX_URL: sandbox.url,
        SANDBOX_KEY: sandbox.key,
      },
      onMarker,
    });
    const gone = (): Promise<never> => Promise.reject(new Error("the service died"));
    this.api = new Api(() => this.origin, gone);
  }

  static async start(
    place: Place,
    rules: readonly RuleInput[],
    options: ServiceOptions = {},
  ): Promise<Service> {
    const service = new Service(place, await startFakeOpenAI({ rules }), options);
    await service.#run();
    return service;
  }

  /** Kills it with SIGKILL and starts it again. */
  async restart(): Promise<void> {
    await this.#workerd.kill();
    await this.#run();
  }

  get origin(): string {
    return this.#workerd.origin;
  }

  /** Where the stream of a run is read. */
  events(run: string): string {
    return `${this.api.teamUrl}/runs/${run}/events`;
  }

  #run(): Promise<void> {
    return this.#workerd.start({ point: null, heartbeatMs: this.#heartbeatMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workerd.kill();
    await this.fake.close();
  }
}
