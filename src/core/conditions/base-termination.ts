import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  type ComponentLoader,
  dumpComponent,
} from "../component/component.ts";
import { inConfig, refuseWhereNew } from "../component/refused-where-new.ts";
import { type Issue, StateError, TroupeError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { parseState } from "../state/load-state.ts";
import type {
  ConditionEnvironment,
  ConditionStep,
  Stop,
  TerminationCondition,
} from "./termination-condition.ts";
import { aCondition, checkArgument } from "../options/options.ts";

/**
 * Base class of conditions; extend it to write your own.
 *
 * @example
 * new MaxMessageTermination(20).or(new TextMentionTermination("APPROVE"))
 */
export abstract class BaseTermination<State extends Json> implements TerminationCondition {
  abstract readonly definition: Component["definition"];
  protected abstract readonly stateSchema: z.ZodType<State>;

  abstract toConfig(): JsonObject;
  abstract initialState(): State;
  abstract terminated(state: State): boolean;
  protected abstract next(
    state: State,
    delta: readonly Message[],
    environment: ConditionEnvironment,
  ): ConditionStep<State>;

  check(
    state: State,
    delta: readonly Message[],
    environment: ConditionEnvironment,
  ): ConditionStep<State> {
    if (this.terminated(state)) {
      throw new TroupeError(
        "already_terminated",
        "the termination condition has fired already; reset it before it is used again",
      );
    }
    return this.next(state, delta, environment);
  }

  reset(): State {
    return this.initialState();
  }

  /** A condition that has fired starts over. */
  goOn(state: State): State {
    return this.terminated(state) ? this.initialState() : state;
  }

  parseState(value: unknown): State {
    return parseState(this.stateSchema, value, `a state of ${this.definition.provider}`);
  }

  /** Fires once both have fired, not necessarily at the same time. */
  and(other: TerminationCondition): AndTermination {
    return new AndTermination(this, other);
  }

  /** Fires when one of the two fires. */
  or(other: TerminationCondition): OrTermination {
    return new OrTermination(this, other);
  }
}

const combinedConfigSchema = z.object({ conditions: z.array(componentModelSchema) });
type CombinedConfig = z.infer<typeof combinedConfigSchema>;

function findMistakes({ conditions }: { conditions: readonly unknown[] }): Issue[] {
  if (conditions.length > 0) return [];
  return [{ path: "conditions", message: "must not be empty: it needs conditions to combine" }];
}

/** A condition over others. */
export abstract class CombinedTermination<State extends Json> extends BaseTermination<State> {
  readonly conditions: readonly TerminationCondition[];

  constructor(...conditions: TerminationCondition[]) {
    super();
    this.conditions = checkArgument(z.array(aCondition), conditions, new.target.name, "conditions");
    refuseWhereNew(new.target.name, findMistakes({ conditions }));
  }

  toConfig(): JsonObject {
    return { conditions: this.conditions.map((condition) => dumpComponent(condition)) as Json };
  }

  protected parseStates(states: readonly unknown[]): Json[] {
    if (states.length !== this.conditions.length) {
      const message = `must be those of ${this.conditions.length} conditions, not of ${states.length}`;
      throw new StateError(`states ${message}`, { issues: [{ path: "states", message }] });
    }
    return this.conditions.map((condition, index) => condition.parseState(states[index]));
  }
}

export type AndTerminationState = { states: Json[]; stops: { content: string; source: string }[] };

/** Fires once all have fired; earlier results are kept until then (AutoGen `AndTerminationCondition`). */
export class AndTermination extends CombinedTermination<AndTerminationState> {
  static readonly component: AnyComponentDefinition = componentDefinition({
    ...combined("AndTerminationCondition"),
    fromConfig: (config, loader) => new AndTermination(...loadAll(config, loader)),
  });
  readonly definition: Component["definition"] = AndTermination.component;
  protected readonly stateSchema = z.object({
    states: z.array(z.json()),
    stops: z.array(z.object({ content: z.string(), source: z.string() })),
  }) as z.ZodType<AndTerminationState>;

  initialState(): AndTerminationState {
    return { states: this.conditions.map((condition) => condition.initialState()), stops: [] };
  }

  override reset(): AndTerminationState {
    return { states: this.conditions.map((condition) => condition.reset()), stops: [] };
  }

  terminated({ states }: AndTerminationState): boolean {
    return this.conditions.every((condition, index) => condition.terminated(at(states, index)));
  }

  atLimit({ states }: AndTerminationState): boolean {
    return this.conditions.every((condition, index) => isAtLimit(condition, at(states, index)));
  }

  protected next(
    state: AndTerminationState,
    delta: readonly Message[],
    environment: ConditionEnvironment,
  ): ConditionStep<AndTerminationState> {
    const stops = [...state.stops];
    let open = false;
    const states = this.conditions.map((condition, index) => {
      const before = at(state.states, index);
      if (condition.terminated(before)) return before;
      const step = condition.check(before, delta, environment);
      if (step.stop) stops.push(step.stop);
      else open = true;
      return step.state;
    });
    return open ? { state: { states, stops } } : { state: { states, stops }, stop: join(stops) };
  }

  override parseState(value: unknown): AndTerminationState {
    const { states, stops } = super.parseState(value);
    return { states: this.parseStates(states), stops };
  }
}

export type OrTerminationState = { states: Json[] };

/** Fires when one of them fires; the texts of all that fire together are joined (AutoGen `OrTerminationCondition`). */
export class OrTermination extends CombinedTermination<OrTerminationState> {
  static readonly component: AnyComponentDefinition = componentDefinition({
    ...combined("OrTerminationCondition"),
    fromConfig: (config, loader) => new OrTermination(...loadAll(config, loader)),
  });
  readonly definition: Component["definition"] = OrTermination.component;
  protected readonly stateSchema = z.object({
    states: z.array(z.json()),
  }) as z.ZodType<OrTerminationState>;

  initialState(): OrTerminationState {
    return { states: this.conditions.map((condition) => condition.initialState()) };
  }

  override reset(): OrTerminationState {
    return { states: this.conditions.map((condition) => condition.reset()) };
  }

  terminated({ states }: OrTerminationState): boolean {
    return this.conditions.some((condition, index) => condition.terminated(at(states, index)));
  }

  atLimit({ states }: OrTerminationState): boolean {
    return this.conditions.some((condition, index) => isAtLimit(condition, at(states, index)));
  }

  override goOn({ states }: OrTerminationState): OrTerminationState {
    return { states: this.conditions.map((one, index) => continued(one, at(states, index))) };
  }

  protected next(
    state: OrTerminationState,
    delta: readonly Message[],
    environment: ConditionEnvironment,
  ): ConditionStep<OrTerminationState> {
    const steps = this.conditions.map((condition, index) =>
      condition.check(at(state.states, index), delta, environment),
    );
    const states = steps.map((step) => step.state);
    const stops = steps.flatMap(({ stop }) => (stop ? [stop] : []));
    return stops.length > 0 ? { state: { states }, stop: join(stops) } : { state: { states } };
  }

  override parseState(value: unknown): OrTerminationState {
    return { states: this.parseStates(super.parseState(value).states) };
  }
}

function combined(name: string) {
  return {
    provider: `autogen_agentchat.base.${name}`,
    componentType: "termination",
    role: "termination",
    version: 1,
    configSchema: combinedConfigSchema,
    refusals: (config: CombinedConfig) => inConfig(findMistakes(config)),
  } as const;
}

function loadAll({ conditions }: CombinedConfig, loader: ComponentLoader): TerminationCondition[] {
  return conditions.map((model, index) =>
    loader.load<TerminationCondition>(model, "termination", `conditions[${index}]`),
  );
}

/** {@link TerminationCondition.atLimit} */
export function isAtLimit(condition: TerminationCondition, state: Json): boolean {
  return condition.terminated(state) && (condition.atLimit?.(state) ?? false);
}

/** {@link TerminationCondition.goOn} */
export function continued(condition: TerminationCondition, state: Json): Json {
  return condition.goOn ? condition.goOn(state) : condition.reset();
}

function at(states: readonly Json[], index: number): Json {
  return states[index] ?? null;
}

function join(stops: readonly Stop[]): Stop {
  return {
    content: stops.map((stop) => stop.content).join(", "),
    source: stops.map((stop) => stop.source).join(", "),
  };
}
