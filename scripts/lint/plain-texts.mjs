// Texts of the console are read by people: sentence case, no addresses of the API, counted nouns by `counted` of
// console/parts/numbers.ts, and no phrase that an editor has replaced.

import { relative, sep } from "node:path";

/** Refused phrases, each with advice. @type {[RegExp, string][]} */
const PHRASES = [
  [
    /\b(?:GET|POST|PUT|PATCH|DELETE) \/|\/v1\//,
    "say what cannot be done, without an address of the API",
  ],
  [/\bId\b/, "write ID"],
  [/\bid of (?:a|an|the)\b/i, "write `user ID`, `team ID`"],
  [/\bany more\b/i, "say no longer"],
  [/\b(?:everybody|everyone)\b/i, "say anyone"],
  [/\bartefacts?\b/i, "name it: a file, an image, a part of a message"],
  [/\blast words\b/i, "say last message"],
  [/\btak(?:e|en|es) back\b/i, "say undo, remove or delete"],
  [/\b(?:put|embed)(?:s|ded)? again\b/i, "say replace or embed"],
  [/\bcannot\b/, "write can't, as in the other texts"],
  [/\b1 [a-z]+s\b/, "write the singular"],
];

/** Words that begin with a capital letter in the middle of a text. */
const NAMES = new Set(
  "AutoGen Studio Ctrl Shift Enter Escape Markdown Magentic Magentic-One Swarm Selector Workers Standard Webhooks TypeScript Troupe Python PyPI".split(
    " ",
  ),
);

/** The advice on the text of a button, a heading or a title; undefined for a plain one. @param {string} text */
export function labelFault(text) {
  if (/[^.]\.$/.test(text.trim())) return "write labels without a period at the end";
  const [, ...words] = text
    .replaceAll(/[“”"():,]/g, " ")
    .split(/\s+/)
    .filter(Boolean);
  const odd = words.find((word) => /^[A-Z][a-z]/.test(word) && !NAMES.has(word));
  return odd && `write labels in sentence case: ${odd.toLowerCase()}`;
}

/** The advice on a text of a page; undefined for a plain one. @param {string} text */
export function textFault(text) {
  const found = PHRASES.find(([pattern]) => pattern.test(text));
  return found && `write plain texts: ${found[1]}`;
}

/** Attributes that people read or hear. */
const SPOKEN = new Set([
  "aria-label",
  "title",
  "placeholder",
  "label",
  "text",
  "alt",
  "name",
  "button",
]);
const LABELS = new Set([
  "button",
  "h1",
  "h2",
  "h3",
  "h4",
  "th",
  "dt",
  "legend",
  "option",
  "summary",
]);

/** The name of an element. @param {any} node */
const nameOf = (node) => node?.openingElement?.name?.name;

/** True for `count === 1 ? "run" : "runs"` and `count === 1 ? "1 run" : ...`. @param {any} node */
function isCounted({ test, consequent: one, alternate: many }) {
  if (test.type !== "BinaryExpression" || test.right.value !== 1) return false;
  if (typeof one.value !== "string") return false;
  return (
    /^1 \w/.test(one.value) ||
    (/^\w+$/.test(one.value) && many.value === `${one.value}s`) ||
    (one.value === "" && many.value === "s")
  );
}

export const plainTexts = {
  /** @param {any} context */
  create(context) {
    const path = relative(context.cwd, context.filename).split(sep);
    const isPage = path[0] === "console" && !["test", "public"].includes(path[1] ?? "");
    if (!isPage || path[1] === "team-api") return {};
    const isHelper = path.join("/") === "console/parts/numbers.ts";
    const check = (
      /** @type {any} */ node,
      /** @type {string} */ text,
      /** @type {boolean} */ label,
    ) => {
      const message = textFault(text) ?? (label ? labelFault(text) : undefined);
      if (message !== undefined) context.report({ node, message });
    };
    return {
      /** @param {any} node */
      JSXText(node) {
        const text = node.value.replaceAll(/\s+/g, " ").trim();
        if (text !== "") check(node, text, LABELS.has(nameOf(node.parent)));
        const before = node.parent.children?.[node.parent.children.indexOf(node) - 1];
        const counts =
          before?.type === "JSXExpressionContainer" &&
          /(?:\.length|toLocaleString\(\)|shortNumber\([^)]*\))$/.test(
            context.sourceCode.getText(before.expression),
          );
        if (counts && /^\s+[a-z]+s\b/.test(node.value)) {
          context.report({ node, message: "write plain texts: count nouns with `counted`" });
        }
      },
      /** @param {any} node */
      JSXAttribute(node) {
        if (!SPOKEN.has(node.name.name) || node.value?.type !== "Literal") return;
        check(node, node.value.value, node.name.name === "button");
      },
      /** @param {any} node */
      Literal(node) {
        // Addresses, names of classes and fields have no blanks.
        if (typeof node.value !== "string" || !/[a-z] [a-z]/i.test(node.value)) return;
        if (node.parent.type !== "JSXAttribute") check(node, node.value, false);
      },
      /** @param {any} node */
      TemplateElement(node) {
        if (/[a-z] [a-z]/i.test(node.value.cooked ?? "")) check(node, node.value.cooked, false);
      },
      /** @param {any} node */
      ConditionalExpression(node) {
        if (isHelper || !isCounted(node)) return;
        context.report({ node, message: "write plain texts: count nouns with `counted`" });
      },
    };
  },
};
