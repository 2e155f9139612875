import type { CodeBlock } from "troupe";
import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { type CompareOptions, type Difference, difference } from "./compare/compare.ts";
import { IdMap } from "./compare/ids.ts";
import { compareHookCalls } from "./compare/hook-calls.ts";
import { compareModelCalls } from "./compare/model-calls.ts";
import { compareStep } from "./compare/steps.ts";
import { samePrompt } from "./compare/printed-lists.ts";
import { differsInFractions } from "./compare/texts.ts";
import { type Deviation, isBroken, leavesApart, recognise, REWRITINGS } from "./deviations.ts";
import { comparedCalls, liesIn } from "./deviations/excuse.ts";
import type { Place } from "./deviations/place.ts";
import { addedHistory, lacksPart } from "./deviations/selector-reload.ts";
import type { Host, Played } from "./host.ts";
import { FIELDS } from "./ops/fields.ts";
import type { ModelCall, Step, Trace } from "./trace.ts";

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
export async function play(
  trace: Trace,
  host: Host,
  listed: readonly Deviation[],
): Promise<Outcome> {
  return new Player(trace, host, listed).play();
}

/** Which field of a step is handed to the implementation with ids in it. */
const INPUTS: { readonly [op: string]: string } = {
  run: "task",
  check: "messages",
  message: "input",
  load_state: "state",
};

class Player {
  readonly #trace: Trace;
  readonly #host: Host;
  readonly #listed: readonly Deviation[];
  readonly #ids = new IdMap();
  readonly #calls: ModelCall[] = [];
  readonly #prompts: string[] = [];
  readonly #codeCalls: CodeBlock[][] = [];
  readonly #hookCalls: JsonObject[] = [];
  readonly #deviations: Outcome["deviations"] = [];
  /** Steps that went another way, so that their model calls cannot be compared. */
  readonly #incomparable = new Set<number>();
  /** Component JSON of the subject. */
  #subject: JsonObject | undefined;
  /** Since this deviation the subject is elsewhere than in the recording. */
  #apart: string | undefined;
  /** The deviation for which there is no subject. */
  #refused: string | undefined;
  /** The steps since then, with the class that led there. */
  readonly #apartSteps = new Map<number, string>();
  /** What was played at each step. */
  readonly #places: Place[] = [];

  constructor(trace: Trace, host: Host, listed: readonly Deviation[]) {
    this.#trace = trace;
    this.#host = host;
    this.#listed = listed;
  }

  async play(): Promise<Outcome> {
    const failure = await this.#failure();
    const met = new Set(this.#deviations.map(({ step }) => step));
    const stale = failure ? [] : this.#listed.filter(({ step }) => !met.has(step));
    return { ...(failure && { failure }), deviations: this.#deviations, stale };
  }

  async #failure(): Promise<Failure | undefined> {
    const { component, hooks, steps } = this.#trace;
    if (component !== undefined) {
      const played = await this.#use(component, hooks);
      const step = { op: "use", component };
      const name =
        played.error &&
        recognise({ trace: this.#trace, index: 0, step, played, subject: component, before: [] });
      this.#refused = name;
      if (played.error && name === undefined) {
        const { message } = played.error;
        return { difference: { path: "component", expected: "loads", actual: message } };
      }
    }
    for (const [index, step] of steps.entries()) {
      const found = await this.#step(step, index);
      if (found) return { step: index, op: step.op, difference: found };
    }
    return this.#end();
  }

  async #step(step: Step, index: number): Promise<Difference | undefined> {
    const renews = step.op === "new" || step.op === "use";
    if (!Object.hasOwn(FIELDS, step.op)) {
      return { path: "op", expected: "a known operation", actual: step.op };
    }
    if (renews) this.#apart = this.#refused = undefined;
    const subject = this.#subject;
    if (this.#refused !== undefined) {
      this.#skip(step, index, this.#refused);
      return undefined;
    }
    const played = await withinTime(renews ? this.#renew(step) : this.#play(step));
    await this.#keepRecords(index);
    if (this.#apart !== undefined) this.#apartSteps.set(index, this.#apart);
    const place = { trace: this.#trace, index, step, played, subject, before: [...this.#places] };
    this.#places.push(place);
    const found = this.#compare(step, played, index);
    const listed = this.#listedAt(index);
    if (found === undefined) {
      if (leavesApart(place)) this.#apart ??= "after-error";
      return undefined;
    }
    let name: string | undefined;
    if (listed) {
      const other = this.#compare(step, played, index, liesIn(listed.differs ?? []));
      if (other) return other;
      name = listed.class;
    } else {
      name = recognise(place) ?? (isBroken(played) ? undefined : this.#apart);
      if (name === undefined) return found;
      this.#incomparable.add(index);
    }
    this.#deviates(index, name);
    if (renews && played.error) this.#refused = name;
    const failed = played.error !== undefined;
    if (step.op === "run" || failed !== (step["error"] !== undefined)) this.#apart ??= name;
    return undefined;
  }

  #skip(step: Step, index: number, name: string): void {
    this.#places.push({
      trace: this.#trace,
      index,
      step,
      played: { actual: {} },
      subject: undefined,
      before: [],
    });
    this.#incomparable.add(index);
    this.#deviates(index, name);
  }

  async #renew({ op, component, hooks }: Step): Promise<Played> {
    if (op === "use") return this.#use(component ?? null, {});
    const model = component ?? this.#trace.component ?? this.#subject ?? null;
    return this.#use(model, isJsonObject(hooks) ? hooks : this.#trace.hooks);
  }

  async #use(component: Json, hooks: JsonObject): Promise<Played> {
    if (!isJsonObject(component)) throw new Error("the trace names no component");
    this.#subject = undefined;
    const played = await this.#host.use(component, hooks);
    if (!played.error) this.#subject = component;
    return played;
  }

  #play(step: Step): Promise<Played> {
    const key = INPUTS[step.op];
    const input = key === undefined ? undefined : step[key];
    if (key === undefined || input === undefined) return this.#host.play(step);
    return this.#host.play({ ...step, [key]: this.#ids.toActual(input) });
  }

  async #keepRecords(step: number): Promise<void> {
    const { model_calls, input_prompts, code_calls, hook_calls } = await this.#host.takeRecords();
    this.#calls.push(...model_calls.map((call) => ({ step, ...call }) as ModelCall));
    this.#prompts.push(...input_prompts);
    this.#codeCalls.push(...code_calls);
    this.#hookCalls.push(...hook_calls.map((call) => ({ step, ...call })));
  }

  /** Ids met in a comparison that fails are not remembered. */
  #compare(
    step: Step,
    played: Played,
    index: number,
    excuses: (path: string) => boolean = () => false,
  ): Difference | undefined {
    const attempt = (expected: Step): Difference | undefined => {
      const ids = this.#ids.fork();
      const options = { ids, excuses, ...this.#texts(index) };
      const found = compareStep(this.#trace, expected, played, options);
      if (found === undefined) this.#ids.adopt(ids);
      return found;
    };
    const found = attempt(step);
    if (found === undefined) return undefined;
    let rewritten = step;
    const classes: string[] = [];
    for (const rewriting of REWRITINGS) {
      const before = rewritten;
      rewritten = rewriting.rewrite(before, this.#subject);
      if (difference(before, rewritten, {}) === undefined) continue;
      classes.push(rewriting.class);
      if (attempt(rewritten) !== undefined) continue;
      for (const name of classes) this.#deviates(index, name);
      return undefined;
    }
    return found;
  }

  #end(): Failure | undefined {
    const asked = this.#asked();
    const apart = this.#apart !== undefined || this.#apartSteps.size + this.#incomparable.size > 0;
    if (asked && !apart) {
      return { difference: asked };
    }
    for (const step of this.#places.keys()) {
      const found = this.#modelCalls(step);
      if (found) return { step, op: "model call", difference: found };
    }
    return undefined;
  }

  #modelCalls(step: number): Difference | undefined {
    const compare = (count = Number.POSITIVE_INFINITY): Difference | undefined =>
      compareModelCalls(this.#trace, this.#calls, step, this.#requestTexts(step), count);
    if (this.#incomparable.has(step)) return undefined;
    const found = compare();
    if (found === undefined) return undefined;
    const listed = this.#listedAt(step);
    const other = listed && compare(comparedCalls(listed.differs ?? []));
    if (other) return other;
    const place = this.#places[step];
    const name = listed?.class ?? this.#apartSteps.get(step) ?? (place && recognise(place));
    if (name === undefined) return found;
    this.#deviates(step, name);
    return undefined;
  }

  /** What the human, the code executor and the hooks were asked over the whole trace. */
  #asked(): Difference | undefined {
    const { input_prompts, code_calls, hook_calls } = this.#trace;
    return (
      (input_prompts && difference(input_prompts, this.#prompts, {}, "input_prompts")) ??
      (code_calls && difference(code_calls, this.#codeCalls, {}, "code_calls")) ??
      (hook_calls && compareHookCalls(hook_calls, this.#hookCalls, { ids: this.#ids.fork() }))
    );
  }

  #listedAt(step: number): Deviation | undefined {
    return this.#listed.find((deviation) => deviation.step === step);
  }

  /** A selector's prompts hold whole conversations. */
  #requestTexts(index: number): CompareOptions {
    const { tolerateText } = this.#texts(index);
    const added = addedHistory(this.#trace, index);
    return {
      tolerateText: (expected, actual) => {
        if (tolerateText?.(expected, actual) || samePrompt(expected, actual)) return true;
        const tolerated = added && lacksPart(expected, actual);
        if (tolerated) this.#deviates(index, "selector-reload");
        return tolerated;
      },
    };
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
    const message = `the step did not end within ${STEP_TIMEOUT_MS / 1000} s`;
    const error = { code: null, message, issues: [] };
    timer = setTimeout(() => resolve({ actual: {}, error }), STEP_TIMEOUT_MS);
  });
  try {
    return await Promise.race([playing, late]);
  } finally {
    clearTimeout(timer);
  }
}
