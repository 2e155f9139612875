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
    return new ConformanceService(await TestWorker.start({}, "test/conformance/worker/main.ts"));
  }

  /** A host for one trace. */
  async open(trace: Trace): Promise<OverHttp> {
    const name = `t${this.#traces++}`;
    const api = new Api(`${await this.#worker.origin}/traces/${name}`);
    await api.call("PUT", "", trace);
    return new OverHttp(api, name, trace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]();
  }
}
