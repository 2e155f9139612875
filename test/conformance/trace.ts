import * as z from "zod";
import { codeBlockSchema, codeResultSchema } from "#core/code/code-block.ts";
import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { FIELDS } from "./ops/fields.ts";

const object = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;

const caseSchema = z.strictObject({
  arguments: z.json(),
  result: z.string().optional(),
  error: z.string().optional(),
});

const toolSchema = z.strictObject({
  description: z.string(),
  parameters: object,
  strict: z.boolean().default(false),
  cases: z.array(caseSchema).default([]),
});

const modelCallSchema = z.looseObject({ step: z.number(), client: z.number() });

const traceSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  about: z.string().optional(),
  autogen: z.string().optional(),
  compare: z.enum(["exact", "by_source"]).default("exact"),
  component: object.optional(),
  tools: z.record(z.string(), toolSchema).default({}),
  inputs: z.array(z.json()).default([]),
  input_prompts: z.array(z.string()).optional(),
  code_results: z.array(codeResultSchema).default([]),
  code_calls: z.array(z.array(codeBlockSchema)).optional(),
  hooks: object.default({}),
  hook_calls: z.array(object).optional(),
  steps: z.array(z.looseObject({ op: z.string() })),
  model_calls: z.array(modelCallSchema).default([]),
});

/** How a tool behaves in a trace: which arguments give which text. */
export type ToolTable = z.infer<typeof toolSchema>;

/** One step: what to do, and under further keys what must come of it. */
export type Step = JsonObject & { op: string };

/** One request to a model: `step` and `client` say when and whose. */
export type ModelCall = JsonObject & { step: number; client: number };

/** A recording of AutoGen. */
export type Trace = Omit<z.infer<typeof traceSchema>, "steps" | "model_calls"> & {
  steps: Step[];
  model_calls: ModelCall[];
};

/** @throws Error when the text is not a trace */
export function parseTrace(text: string): Trace {
  const result = traceSchema.loose().safeParse(JSON.parse(text));
  if (result.success) return result.data as Trace;
  throw new Error(`not a trace: ${z.prettifyError(result.error).replaceAll("\n", " ")}`);
}

/** The keys of a trace that no code reads: what they say is not played or compared. */
export function unreadKeys(trace: Trace): string[] {
  const unread = Object.keys(trace).filter((key) => !Object.hasOwn(traceSchema.shape, key));
  for (const [index, { op, error: _, ...step }] of trace.steps.entries()) {
    const { takes, shows } = FIELDS[op] ?? { takes: Object.keys(step), shows: [] };
    const strange = Object.keys(step).filter((key) => !takes.includes(key) && !shows.includes(key));
    unread.push(...strange.map((key) => `steps[${index}].${key}`));
  }
  return unread;
}

/** Calls `visit` with every object in a JSON value, outer ones first, in document order. */
export function eachObject(value: Json, visit: (node: JsonObject) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) eachObject(item, visit);
  } else if (typeof value === "object" && value !== null) {
    visit(value);
    for (const item of Object.values(value)) eachObject(item, visit);
  }
}

/** A value that should be a text; empty when it is not. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Whether two values are the same JSON; the order of keys is free. */
export function sameJson(left: Json, right: Json): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => sameJson(item, right[at]!));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return left === right;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key]!, right[key]!))
  );
}
