// Titles of tests are read alone, as `vitest list` prints them: a sentence with a subject and an active verb. A title inside of a
// `describe` may continue the description ("a created key" and "is listed without its secret"), or its subject ("that is revoked").

import { fault } from "./plain-comments.mjs";

const PREPOSITIONS =
  "about across after against among around as at before behind below beside between beyond by during for from in inside into " +
  "like near of on outside over per since through to towards under until upon while with within without";

/** A title that stands alone does not begin with these either; inside of a description they continue its sentence. */
const CONTINUATIONS =
  "although because if once that unless when which who whose " +
  "accepts allows are can cannot continues creates does fails finds gets gives has have is keeps knows loads may must needs " +
  "prints refuses removes returns sends shows takes";

const begin = (/** @type {string} */ words) =>
  new RegExp(`^(?:${words.replaceAll(" ", "|")})\\s`, "i");

/** Refused beginnings of a title, each with advice. @type {[RegExp, string][]} */
const BEGINNINGS = [
  [begin("what whether where how why"), "begin with a noun that names it"],
  [begin(PREPOSITIONS), "begin with a subject, not with a preposition"],
  [begin("and or but not also nor so then"), "begin with a subject"],
];

/** The number of the invariant that a test shows: "T3: ...". */
const INVARIANT = /^T\d: /;

/**
 * Why the title of a test is refused; undefined for a plain one.
 * @param {string} title @param {boolean} inside of a `describe`, whose description it continues
 */
export function titleFault(title, inside) {
  const text = title.replace(INVARIANT, "");
  const odd = fault(text);
  if (odd !== undefined) return odd;
  const found = BEGINNINGS.find(([pattern]) => pattern.test(text));
  if (found !== undefined) return `write plain titles: ${found[1]}`;
  if (!inside && begin(CONTINUATIONS).test(text)) return "write plain titles: begin with a subject";
  return undefined;
}

/** `test`, `it`, `describe`, and functions of this project that call them: `testInBrowser`. */
const DECLARES = /^(?:test|it|describe)(?:$|[A-Z])/;

/** Members of `test` whose call declares a test; `each` and `for` return the function that does. */
const KINDS = new Set(["concurrent", "fails", "only", "sequential", "skip"]);

/** The name of the function that declares what `callee` declares: `test` for `test.each(...)`. @param {any} callee */
function declared(callee) {
  let node = callee;
  if (node.type === "MemberExpression" && !KINDS.has(node.property.name)) return undefined;
  for (;;) {
    if (node.type === "CallExpression") node = node.callee;
    else if (node.type === "MemberExpression") node = node.object;
    else break;
  }
  return node.type === "Identifier" && DECLARES.test(node.name) ? node.name : undefined;
}

/** The text of a title, `%s` for what a template fills in. @param {any} node */
function titleOf(node) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type !== "TemplateLiteral") return undefined;
  return node.quasis.map((/** @type {any} */ quasi) => quasi.value.cooked).join("%s");
}

export const plainTitles = {
  /** @param {any} context */
  create(context) {
    let depth = 0;
    return {
      /** @param {any} node */
      CallExpression(node) {
        const name = declared(node.callee);
        if (name === undefined) return;
        // Helpers may take the place of the test, its host or its server before the title.
        const at = node.arguments.find((/** @type {any} */ one) => titleOf(one) !== undefined);
        const title = titleOf(at);
        const message = title === undefined ? undefined : titleFault(title, depth > 0);
        if (message !== undefined) context.report({ node: at, message });
        if (name.startsWith("describe")) depth++;
      },
      /** @param {any} node */
      "CallExpression:exit"(node) {
        if (declared(node.callee)?.startsWith("describe")) depth--;
      },
    };
  },
};
