import { type OutputUnit, Validator } from "@cfworker/json-schema";

/** Keywords whose errors only repeat an error inside of them. */
const AROUND = new Set(["properties", "items", "allOf", "anyOf", "oneOf", "$ref", "if"]);

interface Placed {
  steps: (string | number)[];
  message: string;
}

/** The mistakes in a value with their places. An unreadable schema finds none, because the server validates again. */
export function problemsOf(value: unknown, schema: object): Placed[] {
  if (value === undefined) return [{ steps: [], message: "is required" }];
  try {
    const { errors } = new Validator(schema, "2020-12", false).validate(value);
    const placed = errors.filter(({ keyword }) => !AROUND.has(keyword)).map(placedAt);
    return placed.length > 0 || errors.length === 0 ? placed : errors.slice(0, 1).map(placedAt);
  } catch {
    return [];
  }
}

function placedAt({ instanceLocation, keyword, error }: OutputUnit): Placed {
  const steps = instanceLocation
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const missing = keyword === "required" ? /property "(.+)"/.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { steps: [...steps, missing], message: "is required" };
  return { steps, message: error };
}

/** Mistakes by their places, in the format of the forms. */
interface ErrorTree {
  __errors?: string[];
  [step: string]: ErrorTree | string[] | undefined;
}

export function errorTree(problems: readonly Placed[]): ErrorTree {
  const tree: ErrorTree = Object.create(null) as ErrorTree;
  for (const { steps, message } of problems) {
    let node = tree;
    for (const step of steps) {
      const inner = (node[step] as ErrorTree | undefined) ?? (Object.create(null) as ErrorTree);
      node[step] = inner;
      node = inner;
    }
    node.__errors = [...(node.__errors ?? []), message];
  }
  return { ...tree };
}
