import type { JsonObject } from "../../src/core/json.ts";
import { type Host, type Played, type Records, thrown } from "./host.ts";
import { OPS } from "./ops/index.ts";
import type { Step, Trace } from "./trace.ts";
import { World } from "./world.ts";

/** Plays a trace in the memory of this process. */
export class InMemory implements Host {
  readonly #world: World;

  constructor(trace: Trace) {
    this.#world = new World(trace);
  }

  async use(component: JsonObject, hooks: JsonObject): Promise<Played> {
    try {
      this.#world.use(component, hooks);
      return { actual: {} };
    } catch (error) {
      return { actual: {}, error: thrown(error) };
    }
  }

  async play(step: Step): Promise<Played> {
    const op = OPS[step.op];
    if (op === undefined) throw new Error(`there is no operation ${step.op}`);
    return op(step, this.#world);
  }

  async takeRecords(): Promise<Records> {
    const { human, standIns } = this.#world;
    return {
      model_calls: standIns.models.take(),
      input_prompts: human.take(),
      code_calls: standIns.code.take(),
      hook_calls: standIns.hooks.take(),
    };
  }
}
