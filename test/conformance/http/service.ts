import { TestWorker } from "../../support/worker.ts";
import type { Trace } from "../trace.ts";
import { Api } from "./api.ts";
import { OverHttp } from "./over-http.ts";

/** The service in a workerd of its own, with the worlds of the traces that are being played around it. */
export class ConformanceService implements AsyncDisposable {
  readonly #worker: TestWorker;
  #traces = 0;

  private constructor(worker: TestWorker) {
    this.#worker = worker;
  }

  static async start(): Promise<ConformanceService> {
    const worker = await TestWorker.start(
      {},
      { entry: "test/conformance/worker/main.ts", quietAbout: "Application called abort()" },
    );
    return new ConformanceService(worker);
  }

  /**
   * A host for one trace.
   * @param evicts whether the team's object is ended before every step, and while a run waits
   */
  async open(trace: Trace, evicts: boolean): Promise<OverHttp> {
    const name = `t${this.#traces++}`;
    const api = new Api(`${await this.#worker.origin}/traces/${name}`);
    await api.call("PUT", "", trace);
    return new OverHttp(api, name, trace, evicts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]();
  }
}
