import type { JsonObject } from "troupe";
import { type Host, type Played, type Records, thrown } from "./host.ts";
import { OPS } from "./ops/index.ts";
import { StandIns } from "./stand-ins/stand-ins.ts";
import type { Step, Trace } from "./trace.ts";
import { World } from "./world.ts";

/** Plays a trace in memory. */
export class InMemory implements Host {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  static of(trace: Trace): InMemory {
    return new InMemory(new World(trace, new StandIns(trace)));
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
