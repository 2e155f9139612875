import { errorMessage } from "../../src/core/errors.ts";
import { type CompareOptions, type Difference, difference } from "./compare/compare.ts";
import { compareModelCalls } from "./compare/model-calls.ts";
import { compareStep } from "./compare/steps.ts";
import { differsInFractions } from "./compare/texts.ts";
import { withoutChunks } from "./deviations/chunks.ts";
import { type Deviation, isBroken, leavesApart, recognise } from "./deviations.ts";
import { OPS } from "./ops/index.ts";
import type { Played } from "./ops/op.ts";
import type { Step, Trace } from "./trace.ts";
import { World } from "./world.ts";

/** A step (or, without one, the trace as a whole) that went otherwise than recorded. */
export interface Failure {
  step?: number;
  op?: string;
  difference: Difference;
}

export interface Outcome {
  failure?: Failure;
  /** Where Troupe differed on purpose. */
  deviations: { step: number; class: string }[];
  /** Places listed as deviations that did not differ. */
  stale: Deviation[];
}

/** Longer than any step takes: a step that hangs must not hang the rest. */
const STEP_TIMEOUT_MS = 30_000;

/** Plays a trace up to the first difference that is not on purpose. `listed` are the known deviations of this trace. */
export async function play(trace: Trace, listed: readonly Deviation[]): Promise<Outcome> {
  return new Player(trace, listed).play();
}

class Player {
  readonly #trace: Trace;
  readonly #listed: readonly Deviation[];
  readonly #deviations: Outcome["deviations"] = [];
  /** Steps whose model calls are not comparable. */
  readonly #skipped = new Set<number>();
  /** Since this deviation the subject is elsewhere than in the recording. */
  #apart: string | undefined;
  /** The steps since then, with the class that led there. */
  readonly #apartSteps = new Map<number, string>();

  constructor(trace: Trace, listed: readonly Deviation[]) {
    this.#trace = trace;
    this.#listed = listed;
  }

  async play(): Promise<Outcome> {
    const failure = await this.#failure();
    const met = new Set(this.#deviations.map(({ step }) => step));
    const stale = failure ? [] : this.#listed.filter(({ step }) => !met.has(step));
    return { ...(failure && { failure }), deviations: this.#deviations, stale };
  }

  async #failure(): Promise<Failure | undefined> {
    let world: World;
    try {
      world = new World(this.#trace);
    } catch (error) {
      return { difference: { path: "component", expected: "loads", actual: errorMessage(error) } };
    }
    for (const [index, step] of this.#trace.steps.entries()) {
      const found = await this.#step(world, step, index);
      if (found) return { step: index, op: step.op, difference: found };
    }
    return this.#end(world);
  }

  async #step(world: World, step: Step, index: number): Promise<Difference | undefined> {
    const op = Object.hasOwn(OPS, step.op) ? OPS[step.op] : undefined;
    if (op === undefined) return { path: "op", expected: "a known operation", actual: step.op };
    world.models.step = index;
    if (step.op === "new" || step.op === "use") this.#apart = undefined;
    const subject = world.subjectModel;
    const played = await withinTime(op(step, world));
    if (this.#apart !== undefined) this.#apartSteps.set(index, this.#apart);
    const found = this.#compare(world, step, played, index);
    const listed = this.#listed.find((deviation) => deviation.step === index);
    if (found === undefined) {
      if (leavesApart({ trace: this.#trace, index, step, played, subject })) {
        this.#apart ??= "after-error";
      }
      return undefined;
    }
    const name =
      listed?.class ??
      recognise({ trace: this.#trace, index, step, played, subject }) ??
      (isBroken(played) ? undefined : this.#apart);
    if (name === undefined) return found;
    this.#deviates(index, name);
    this.#skipped.add(index);
    const failed = played.error !== undefined;
    if (step.op === "run" || failed !== (step["error"] !== undefined)) this.#apart ??= name;
    return undefined;
  }

  /** Ids met in a comparison that fails are not remembered. */
  #compare(world: World, step: Step, played: Played, index: number): Difference | undefined {
    const attempt = (expected: Step): Difference | undefined => {
      const ids = world.ids.fork();
      const found = compareStep(this.#trace, expected, played, { ids, ...this.#texts(index) });
      if (found === undefined) world.ids.adopt(ids);
      return found;
    };
    const found = attempt(step);
    if (found === undefined) return undefined;
    const cleaned = withoutChunks(step);
    if (difference(step, cleaned, {}) === undefined || attempt(cleaned)) return found;
    this.#deviates(index, "chunks");
    return undefined;
  }

  #end(world: World): Failure | undefined {
    const { input_prompts } = this.#trace;
    const prompts =
      input_prompts && difference(input_prompts, world.human.prompts, {}, "input_prompts");
    if (prompts && this.#apart === undefined && this.#apartSteps.size === 0) {
      return { difference: prompts };
    }
    for (;;) {
      const call = compareModelCalls(this.#trace, world.models.calls, this.#skipped, (step) =>
        this.#texts(step),
      );
      if (call === undefined) return undefined;
      const apart = this.#apartSteps.get(call.step);
      if (apart === undefined) return { step: call.step, op: "model call", difference: call };
      this.#deviates(call.step, apart);
      this.#skipped.add(call.step);
    }
  }

  /** Numbers of structured content are shown inside texts. */
  #texts(index: number): CompareOptions {
    if (!JSON.stringify(this.#trace).includes("StructuredMessage")) return {};
    return {
      tolerateText: (expected, actual) => {
        const tolerated = differsInFractions(expected, actual);
        if (tolerated) this.#deviates(index, "numbers");
        return tolerated;
      },
    };
  }

  #deviates(step: number, name: string): void {
    const known = this.#deviations.some((place) => place.step === step && place.class === name);
    if (!known) this.#deviations.push({ step, class: name });
  }
}

async function withinTime(playing: Promise<Played>): Promise<Played> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Played>((resolve) => {
    const error = new Error(`the step did not end within ${STEP_TIMEOUT_MS / 1000} s`);
    timer = setTimeout(() => resolve({ actual: {}, error }), STEP_TIMEOUT_MS);
  });
  try {
    return await Promise.race([playing, late]);
  } finally {
    clearTimeout(timer);
  }
}
