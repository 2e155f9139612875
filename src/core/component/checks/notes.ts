import { ComponentError, type Issue, TroupeError } from "../../errors.ts";
import type { Note, NoteLoader } from "../component.ts";
import { type CheckedComponent, componentsIn, type NodeLoader } from "./find-issues.ts";
import { className } from "../providers.ts";
import { configJsonSchema, unknownKeys } from "./unknown-keys.ts";

/** The functions of the registry that notes need. */
export type NoteSource = Pick<NodeLoader, "check"> & NoteLoader;

/** The notes on the components in `model`, in document order. */
export function* notesOn(nodes: NoteSource, model: unknown, path: string): Generator<Note> {
  const checked = check(nodes, model, path);
  if (checked === undefined) return;
  const { config } = checked;
  yield* ignoredKeys(checked, `${path}.config`);
  yield* refusalsOf(checked, nodes, path);
  yield* ownRemarks(checked, nodes, "notes", path);
  for (const [place, child] of componentsIn(config, `${path}.config`)) {
    yield* notesOn(nodes, child, place);
  }
}

/** Why a valid component is refused where it comes in new, without the components inside of it. */
export function refusalsOf(checked: CheckedComponent, nodes: NoteLoader, path: string): Issue[] {
  return ownRemarks(checked, nodes, "refusals", path);
}

/** An object that only looks like a component may have a config with which it cannot be loaded. */
function ownRemarks(
  { definition, config }: CheckedComponent,
  nodes: NoteLoader,
  kind: "notes" | "refusals",
  path: string,
): Note[] {
  try {
    const remarks = definition[kind]?.(config, nodes) ?? [];
    return remarks.map((remark) => ({ ...remark, path: `${path}.${remark.path}` }));
  } catch (error) {
    if (error instanceof TroupeError) return [];
    throw error;
  }
}

function ignoredKeys({ definition, given }: CheckedComponent, path: string): Note[] {
  const { configSchema, provider } = definition;
  const { troupe: _, ...config } = given;
  return unknownKeys(config, configJsonSchema(configSchema), className(provider), path);
}

/** Undefined for an object that only looks like a component, and for a component that this deployment no longer knows. */
function check(
  nodes: Pick<NodeLoader, "check">,
  model: unknown,
  path: string,
): CheckedComponent | undefined {
  try {
    return nodes.check(model, undefined, path);
  } catch (error) {
    if (error instanceof ComponentError) return undefined;
    throw error;
  }
}
