// Small changes of a file's code that a test should notice, found in its syntax tree.

import { parseSync } from "oxc-parser";

/**
 * @typedef {object} Mutation
 * @property {number} start where it begins in the text
 * @property {number} end
 * @property {string} replacement
 * @property {string} kind what is changed, in words
 */

/** @typedef {{ type: string, start: number, end: number } & Record<string, unknown>} Node */

/** @type {Record<string, string>} */
const OPPOSITES = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
};

/** Statements of these expressions have an effect that a test can miss. */
const EFFECTS = new Set(["CallExpression", "AwaitExpression", "AssignmentExpression"]);

/** Nodes of TypeScript that have code in them; all others are types. */
const WITH_CODE = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);

/**
 * All mutations of a file, in the order of its text.
 *
 * @param {string} file a path, whose end says which language it is
 * @param {string} text
 * @returns {Mutation[]}
 */
export function mutationsOf(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0]?.message}`);
  /** @type {Mutation[]} */
  const found = [];
  visit(/** @type {Node} */ (/** @type {unknown} */ (program)), (node) => {
    found.push(...mutationsAt(node, text));
  });
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** @param {Node} node @param {string} text @returns {Mutation[]} */
function mutationsAt(node, text) {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      return ofOperator(node, text);
    case "Literal":
      if (typeof node["value"] !== "boolean") return [];
      return [{ ...node, replacement: String(!node["value"]), kind: "another boolean" }].map(only);
    case "IfStatement":
    case "ConditionalExpression": {
      const { start, end } = /** @type {Node} */ (node["test"]);
      const replacement = `!(${text.slice(start, end)})`;
      return [{ start, end, replacement, kind: "the opposite condition" }];
    }
    case "ExpressionStatement": {
      const { type } = /** @type {Node} */ (node["expression"]);
      if (!EFFECTS.has(type)) return [];
      return [{ start: node.start, end: node.end, replacement: ";", kind: "no statement" }];
    }
    default:
      return [];
  }
}

/** @param {Mutation} mutation @returns {Mutation} */
function only({ start, end, replacement, kind }) {
  return { start, end, replacement, kind };
}

/** @param {Node} node @param {string} text @returns {Mutation[]} */
function ofOperator(node, text) {
  const operator = String(node["operator"]);
  const replacement = OPPOSITES[operator];
  if (replacement === undefined) return [];
  const left = /** @type {Node} */ (node["left"]);
  const start = text.indexOf(operator, left.end);
  return [{ start, end: start + operator.length, replacement, kind: "another operator" }];
}

/** Calls with each node that is code, not type. @param {Node} node @param {(node: Node) => void} action */
function visit(node, action) {
  if (node.type.startsWith("TS") && !WITH_CODE.has(node.type)) return;
  action(node);
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) visit(child, action);
  }
}

/** @param {unknown} value @returns {value is Node} */
function isNode(value) {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** @param {string} text @param {Mutation} mutation */
export function mutated(text, { start, end, replacement }) {
  return text.slice(0, start) + replacement + text.slice(end);
}
