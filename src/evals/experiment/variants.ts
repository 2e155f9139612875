import { applyPatch, type Operation } from "rfc6902";
import * as z from "zod";
import { type ComponentModel, componentModelSchema } from "../../core/component/component-model.ts";
import type { Issue } from "../../core/errors.ts";
import { nearMatches } from "../../core/options/near-matches.ts";
import type { DatasetItem } from "../data/item.ts";
import type { EvaluationComponents, Subject } from "./components.ts";

const path = z.string().regex(/^(?:\/[^/]*)*$/, "must be a JSON pointer, such as /config/name");
const value = z.json();

/** An operation of RFC 6902. */
export type PatchOperation = Operation;

const operationSchema = z.discriminatedUnion("op", [
  z.strictObject({ op: z.enum(["add", "replace", "test"]), path, value }),
  z.strictObject({ op: z.literal("remove"), path }),
  z.strictObject({ op: z.enum(["move", "copy"]), path, from: path }),
]);

const name = z.string().min(1).max(200);

export const variantSchema = z.union([
  z.strictObject({ name, component: componentModelSchema }),
  z.strictObject({ name, template: z.string().min(1) }),
  z.strictObject({ name, base: z.string().min(1), patch: z.array(operationSchema).min(1) }),
  z.strictObject({
    name,
    create: z.custom<(item: DatasetItem<object>) => Subject | Promise<Subject>>(
      (given) => typeof given === "function",
      { error: "must be a function that makes an agent or a team" },
    ),
  }),
]);
type CheckedVariant = z.infer<typeof variantSchema>;

/** One side of a comparison: component JSON, a template, a patch of another variant, or a function that makes a team. */
export type Variant =
  | { name: string; component: ComponentModel }
  | { name: string; template: string }
  | { name: string; base: string; patch: readonly PatchOperation[] }
  | {
      name: string;
      /** Called for each run, because a team keeps its conversation. */
      create: (item: DatasetItem<object>) => Subject | Promise<Subject>;
    };

/** A variant that can be run. */
export interface ReadyVariant {
  name: string;
  create: (item: DatasetItem<object>) => Promise<Subject>;
}

const SUBJECTS = ["team", "agent"] as const;

/** Makes variants ready to run. @returns the mistakes in them, too: with any, nothing may run */
export async function readyVariants(
  variants: readonly CheckedVariant[],
  components: EvaluationComponents,
): Promise<{ ready: ReadyVariant[]; issues: Issue[] }> {
  const issues: Issue[] = [];
  const ready: ReadyVariant[] = [];
  for (const [index, variant] of variants.entries()) {
    const place = `variants[${index}]`;
    if (variants.findIndex((other) => other.name === variant.name) < index) {
      issues.push({
        path: `${place}.name`,
        message: `"${variant.name}" is the name of an earlier variant`,
      });
      continue;
    }
    if ("create" in variant) {
      ready.push({ name: variant.name, create: async (item) => variant.create(item) });
      continue;
    }
    const found = componentOf(variant, place, variants, components, []);
    if ("message" in found) {
      issues.push(found);
      continue;
    }
    const key = "component" in variant ? `${place}.component` : place;
    const prepared = await components.prepare(found.component, SUBJECTS, key);
    issues.push(...prepared.issues);
    const create = (): Promise<Subject> => components.load<Subject>(prepared.model, SUBJECTS);
    ready.push({ name: variant.name, create });
  }
  return { ready, issues };
}

function componentOf(
  variant: CheckedVariant,
  place: string,
  variants: readonly CheckedVariant[],
  components: EvaluationComponents,
  above: readonly string[],
): { component: ComponentModel } | Issue {
  if ("component" in variant) return { component: variant.component };
  if ("template" in variant) {
    const component = components.template(variant.template);
    if (component !== undefined) return { component };
    const names = components.templateNames();
    return { path: `${place}.template`, message: unknown("template", variant.template, names) };
  }
  const issue = (message: string): Issue => ({ path: `${place}.base`, message });
  if ("create" in variant)
    return issue(`"${variant.name}" is made by a function, and only component JSON can be patched`);
  const { base, patch } = variant;
  const names = variants.map((one) => one.name);
  const from = variants.find((one) => one.name === base);
  if (from === undefined) return issue(unknown("variant", base, names));
  if (from === variant || above.includes(base))
    return issue(`"${base}" begins with this variant itself`);
  const found = componentOf(from, place, variants, components, [...above, variant.name]);
  if ("message" in found) return found;
  const component = structuredClone(found.component);
  for (const [index, operation] of patch.entries()) {
    const [error] = applyPatch(component, [operation]);
    if (error == null) continue;
    const message =
      operation.op === "test"
        ? `the value at ${operation.path} is another one`
        : `cannot be applied: there is nothing at ${operation.path}`;
    return { path: `${place}.patch[${index}]`, message };
  }
  return { component };
}

function unknown(kind: string, given: string, names: readonly string[]): string {
  const [near] = nearMatches(given, names);
  const hint = near === undefined ? `there are ${names.join(", ")}` : `did you mean "${near}"?`;
  return `there is no ${kind} "${given}"; ${hint}`;
}
