import { ComponentError } from "../../errors.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { NodeLoader } from "./find-issues.ts";
import { looksLikeComponent } from "./limits.ts";
import { Preparation } from "../preparation.ts";

/** Adds data that components need before they are loaded, under `troupe` in their configs. */
export async function prepareComponents(
  nodes: Pick<NodeLoader, "check">,
  model: unknown,
  path: string,
): Promise<unknown> {
  const preparation = new Preparation();
  const found = new Map<unknown, Promise<JsonObject | undefined>>();
  for (const node of componentsBelow(model)) {
    const prepared = prepare(nodes, node, path, preparation);
    if (prepared !== undefined) found.set(node, prepared);
  }
  const findings = new Map<unknown, JsonObject>();
  await Promise.all(
    Array.from(found, async ([node, finding]) => {
      const troupe = await finding;
      if (troupe !== undefined) findings.set(node, troupe);
    }),
  );
  return findings.size === 0 ? model : withFindings(model as Json, findings);
}

function* componentsBelow(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  if (looksLikeComponent(value)) yield value;
  for (const inner of Object.values(value)) yield* componentsBelow(inner);
}

/** Undefined for a component that cannot be loaded; loading reports the reason. */
function prepare(
  nodes: Pick<NodeLoader, "check">,
  node: object,
  path: string,
  preparation: Preparation,
): Promise<JsonObject | undefined> | undefined {
  try {
    const { definition, config } = nodes.check(node, undefined, path);
    return definition.prepare?.(config, preparation);
  } catch (error) {
    if (error instanceof ComponentError) return undefined;
    throw error;
  }
}

function withFindings(value: Json, findings: ReadonlyMap<unknown, JsonObject>): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withFindings(item, findings));
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withFindings(inner, findings)]),
  );
  const troupe = findings.get(value);
  return troupe === undefined
    ? copy
    : { ...copy, config: { ...(copy["config"] as JsonObject), troupe } };
}
