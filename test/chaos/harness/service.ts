import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { Api } from "./api.ts";
import type { Place } from "./place.ts";
import { SETTINGS } from "./trial.ts";
import { Workerd } from "./workerd.ts";

/** A service that is not killed, with a model of its own. */
export class Service implements AsyncDisposable {
  readonly fake: FakeOpenAI;
  readonly api: Api;
  readonly #workerd: Workerd;

  private constructor({ scratch, config, sandbox }: Place, fake: FakeOpenAI) {
    this.fake = fake;
    this.#workerd = new Workerd({
      config,
      state: mkdtempSync(join(scratch, "state-")),
      vars: {
        ...SETTINGS,
        EFFECTS_URL: "http://127.0.0.1:1",
        SANDBOX_URL: sandbox.url,
        SANDBOX_KEY: sandbox.key,
      },
    });
    const gone = (): Promise<never> => Promise.reject(new Error("the service died"));
    this.api = new Api(() => this.origin, gone);
  }

  static async start(place: Place, rules: readonly RuleInput[]): Promise<Service> {
    const service = new Service(place, await startFakeOpenAI({ rules }));
    await service.#workerd.start({ point: null, heartbeatMs: 15_000 });
    return service;
  }

  get origin(): string {
    return this.#workerd.origin;
  }

  /** Where the stream of a run is read. */
  events(run: string): string {
    return `${this.api.teamUrl}/runs/${run}/events`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workerd.kill();
    await this.fake.close();
  }
}
