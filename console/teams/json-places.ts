import {
  findNodeAtLocation,
  getNodeValue,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { fromPython, namesOf } from "../component/python-json.ts";
import { explained } from "../component/repairs.ts";
import { stepsOf } from "../parts/json-path.ts";

export interface Mistake {
  /** The line of the text, from 1; undefined if it has none. */
  line: number | undefined;
  path: string;
  message: string;
}

/** JSON with the places of its values. */
export interface JsonPlaces {
  value: unknown;
  /** The reason why it is not JSON. */
  error: Mistake | undefined;
  /** The line of a path from a problem: `component.config.participants[0].provider`. */
  lineOf: (path: string) => number | undefined;
  /** The server's words about a path as a sentence. */
  explained: (path: string, message: string) => string;
}

export function jsonPlaces(text: string): JsonPlaces {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true });
  const line = (offset: number): number => text.slice(0, offset).split("\n").length;
  const [first] = errors;
  const lineOf = (path: string): number | undefined => {
    const steps = stepsOf(path);
    // A missing value has the line of the object that lacks it.
    const ends = Array.from({ length: steps.length + 1 }, (_, left) => steps.length - left);
    const nodes = ends.map((end) => tree && findNodeAtLocation(tree, steps.slice(0, end)));
    const node = nodes.find((found) => found !== undefined);
    return node && line(node.offset);
  };
  return {
    value: tree && getNodeValue(tree),
    error: first && {
      line: line(first.offset),
      path: "",
      message: `This is not JSON: ${wordsOf(printParseErrorCode(first.error))}`,
    },
    lineOf,
    explained: (path, message) => explained({ path: stepsOf(path), message }).message,
  };
}

/** A printed value of Python: what it has that JSON has not, and the JSON that it stands for. */
export function pythonMistake(text: string): { message: string; json: string } | undefined {
  const python = fromPython(text);
  if (python === undefined) return undefined;
  return {
    message: `This is Python, not JSON: it has ${namesOf(python.found)}.`,
    json: python.json,
  };
}

/** `ValueExpected` is `value expected`. */
function wordsOf(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}
