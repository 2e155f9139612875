import type { Json } from "troupe";
import { type Played, thrown } from "../host.ts";
import type { Step } from "../trace.ts";
import type { World } from "../world.ts";

/** Does what a step says. What it throws counts as the step's error; its results are compared key by key. */
export type Op = (step: Step, world: World) => Promise<Played["actual"]> | Played["actual"];

/** Like an {@link Op}, for steps that show something even when they fail. */
export type FallibleOp = (step: Step, world: World) => Promise<Played>;

export function catching(op: Op): FallibleOp {
  return async (step, world) => {
    try {
      return { actual: await op(step, world) };
    } catch (error) {
      return { actual: {}, error: thrown(error) };
    }
  };
}

/** A field of a step. @throws Error when it is not a text */
export function text(step: Step, key: string): string {
  const value = step[key];
  if (typeof value === "string") return value;
  throw new Error(`the step has no text "${key}"`);
}

/** A field of a step. @throws Error when it is not a list */
export function list(step: Step, key: string): Json[] {
  const value = step[key];
  if (Array.isArray(value)) return value;
  throw new Error(`the step has no list "${key}"`);
}

/** A value of our own as JSON. */
export function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json;
}
