// A character may be two UTF-16 units, and half of one is not valid text: `beginningOf` and `endOf` of src/core/cut.ts cut
// between characters. Types are not known to a rule, so this one knows cuts of texts by their limits.

import { relative, sep } from "node:path";

/** The names that limits of texts have; those of lists begin with MOST. */
const LIMIT = /^(LONGEST|MAX)(_|$)|^BRIEF$|_CHARACTERS$/;

/** Shorter prefixes of a number of characters are those of ids, hashes and dates. */
const FEWEST = 50;

/** What is deployed; tests and tools cut texts for their own output. */
const CHECKED = /^(src|console|sandbox|template)\/(?!test\/)/;

/** @param {any} node @returns {boolean} */
function isLimit(node) {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "number" && node.value >= FEWEST;
    case "Identifier":
      return LIMIT.test(node.name);
    case "UnaryExpression":
      return node.operator === "-" && isLimit(node.argument);
    case "BinaryExpression":
      return node.right.type === "Literal" && isLimit(node.left);
    default:
      return false;
  }
}

/** Whether dots follow in a template: what was cut is shown. @param {any} node */
function hasDots(node) {
  const { parent } = node;
  if (parent?.type !== "TemplateLiteral") return false;
  const after = parent.quasis[parent.expressions.indexOf(node) + 1];
  return /^\s*(…|\.\.\.)/.test(after?.value.raw ?? "");
}

export const wholeCharacters = {
  /** @param {any} context */
  create(context) {
    const file = relative(context.cwd, context.filename).split(sep).join("/");
    if (!CHECKED.test(file)) return {};
    return {
      /** @param {any} node */
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression") return;
        if (!["slice", "substring", "substr"].includes(callee.property.name)) return;
        const [start, end] = node.arguments;
        const cuts =
          node.arguments.length === 1 ? start.type === "UnaryExpression" : start?.value === 0;
        if (!cuts || !(isLimit(end ?? start) || hasDots(node))) return;
        context.report({
          node,
          message: "cut texts with beginningOf or endOf: slice may leave half of a character",
        });
      },
    };
  },
};
