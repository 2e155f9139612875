import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Plugin } from "esbuild";
import { parseAst } from "rolldown/parseAst";

const ROOT = join(import.meta.dirname, "../..");

interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Text that replaces a part of a source. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const CLASSES = new Set(["ClassDeclaration", "ClassExpression"]);

/**
 * Puts a call of `enterFunction` or `enterGenerator`, which esbuild has to inject, around the body of each function of `src`,
 * with its file and its name.
 */
export const instrumentCalls: Plugin = {
  name: "instrument-calls",
  setup(bundler) {
    bundler.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const file = relative(ROOT, path).replaceAll(sep, "/");
      if (!file.startsWith("src/")) return undefined;
      return { contents: instrumented(readFileSync(path, "utf8"), file), loader: "ts" };
    });
  },
};

function instrumented(source: string, file: string): string {
  const program = parseAst(source, { lang: "ts" }) as object as Node;
  return functionsIn(program)
    .flatMap((found) => editsOf(found, source, file))
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end),
      source,
    );
}

interface FoundFunction {
  /** The names of the classes and functions around it, and its own: a callback has the name of the function around it. */
  names: readonly string[];
  node: Node;
  body: Node;
  /** The name in its head, if it has one there. */
  key: Node | undefined;
  /** Where its head starts. */
  head: number;
}

function functionsIn(
  node: Node,
  names: readonly string[] = [],
  owner: Node = node,
): FoundFunction[] {
  const { body } = node;
  const key = keyOf(node) ?? keyOf(owner);
  const name = key && nameOf(key);
  const isFunction = FUNCTIONS.has(node.type) && isNode(body);
  const isNamed = name !== undefined && (isFunction || CLASSES.has(node.type));
  const inside = isNamed ? [...names, name] : names;
  const found = isFunction ? [{ names: inside, node, body, key, head: owner.start }] : [];
  const nested = childrenOf(node).flatMap((child) =>
    functionsIn(child, inside, child === node["value"] || child === node["init"] ? node : child),
  );
  return [...found, ...nested];
}

function editsOf(
  { names, node, body, key, head }: FoundFunction,
  source: string,
  file: string,
): Edit[] {
  const isBlock = body.type === "BlockStatement";
  const [start, end] = isBlock ? [body.start + 1, body.end - 1] : [body.start, body.end];
  // An empty function comes to nothing.
  if (start === end) return [];
  const call = `${JSON.stringify(file)}, ${JSON.stringify(names.slice(0, 2).join("."))}`;
  const async = node["async"] === true ? "async " : "";
  const around = (before: string, after: string): Edit[] => [
    { start, end: start, text: before },
    { start: end, end, text: after },
  ];
  if (node["generator"] === true) {
    // No longer a generator itself: it is entered when it is called.
    const headEnd = key?.start ?? body.start;
    const plain = source.slice(head, headEnd).replaceAll(/\basync\b|\*/g, "");
    return [
      { start: head, end: headEnd, text: plain },
      ...around(`return enterGenerator(${call}, () => (${async}function* () {`, "}).call(this));"),
    ];
  }
  return isBlock
    ? around(`return enterFunction(${call}, ${async}() => {`, "});")
    : around(`enterFunction(${call}, ${async}() => (`, "))");
}

function keyOf(node: Node): Node | undefined {
  const key = node["id"] ?? node["key"];
  return isNode(key) ? key : undefined;
}

function nameOf({ type, name, value }: Node): string | undefined {
  if (typeof name === "string") return type === "PrivateIdentifier" ? `#${name}` : name;
  return typeof value === "string" ? value : undefined;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value) => isNode(value));
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
