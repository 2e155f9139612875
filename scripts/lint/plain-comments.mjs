// Comments are plain sentences: the field's words, a subject and a verb (docs/contributing/names.md). This rule refuses
// phrases that a reader stumbles over, so that they do not come back.

import { relative, sep } from "node:path";

/** Refused beginnings of a comment, each with advice. @type {[RegExp, string][]} */
const BEGINNINGS = [
  [/^of\s/i, "begin with a subject or a verb: a comment does not begin with `of`"],
  [/^tells?\s/i, "say reports, encodes, distinguishes or shows"],
];

/** Phrases that neither comments nor pages have, each with advice. @type {[RegExp, string][]} */
const PHRASES = [
  [/\b(is|are|was|were|be|been|being|gets?|have|has) told\b/i, "say reported, announced or sent"],
  [/\b(told|tells?|telling) of\b/i, "say reports, announces or describes"],
  [/\bso many\b/i, "say how many, a limit or `this many`"],
  [/\banew\b/i, "say again"],
  [/\bno more(?:[.;]|$)/i, "say no longer"],
  [/\bwhat (becomes|became|has become) of\b/i, "name the result"],
  [/\b(nobody|somebody)\b/i, "name who: the client, the caller, a reader"],
  [/\bgo(es)? on\b/i, "say continues"],
  [
    /(?<!\bthere (?:\w+ )?)\b(?:is|are|was|were|be|been) no (?!(?:longer|more|less|fewer|better|worse|earlier|later|other|one)\b)/i,
    "say `is not a`",
  ],
];

/** The beginning of a stub, which repeats the name beside it: `Whether it is idle.` */
const STUB = /^(?:what|whether|where|who|whose|how|which)\s/i;

/** A comment without the signs around it, and the text of each tag by itself: `@param name`, `@returns`. */
const texts = (/** @type {string} */ comment) =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*?\s?/, ""))
    .join("\n")
    .split(
      /^\s*(?:@(?:param|property)\s+(?:\{[^}]*\}\s*)?\S+|@[a-z]+)|\s@(?:param|property)\s+\S+|\s@[a-z]+/m,
    )
    .map((text) => text.replace(/\s+/g, " ").trim());

/** The advice on a refused comment; undefined for a plain one. @param {string} comment */
export function fault(comment) {
  for (const text of texts(comment)) {
    const found = BEGINNINGS.find(([pattern]) => pattern.test(text));
    if (found !== undefined) return `write plain words: ${found[1]}`;
    const odd = oddPhrase(text);
    if (odd !== undefined) return odd;
  }
  return undefined;
}

/** The advice on a sentence that is refused wherever it stands; undefined for a plain one. @param {string} text */
export function oddPhrase(text) {
  const found = PHRASES.find(([pattern]) => pattern.test(text));
  return found && `write plain words: ${found[1]}`;
}

/** Consecutive line comments are one text. @param {any[]} comments @param {string} source */
function joined(comments, source) {
  /** @type {{ first: any, text: string }[]} */
  const groups = [];
  let before;
  for (const comment of comments) {
    const last = groups.at(-1);
    const follows =
      comment.type === "Line" &&
      before?.type === "Line" &&
      /^\r?\n[ \t]*$/.test(source.slice(before.range[1], comment.range[0]));
    if (follows && last !== undefined) last.text += `\n${comment.value}`;
    else groups.push({ first: comment, text: comment.value });
    before = comment;
  }
  return groups;
}

/** The advice on a comment of the product's code, which has to name its subject; undefined for a plain one. @param {string} comment */
export function stubFault(comment) {
  const [text = ""] = texts(comment);
  if (!STUB.test(text)) return fault(comment);
  return "write plain words: name the thing (`The id of ...`) or its condition (`True while ...`), or delete the comment if it repeats the name";
}

/** The product's code. Tests and scripts may describe their helpers as they like. */
const PRODUCT = /^(?:src|console)\//;

export const plainComments = {
  /** @param {any} context */
  create(context) {
    const path = relative(context.cwd, context.filename).split(sep).join("/");
    const faultOf = PRODUCT.test(path) ? stubFault : fault;
    return {
      Program() {
        const { sourceCode } = context;
        for (const { first, text } of joined(sourceCode.getAllComments(), sourceCode.text)) {
          const message = faultOf(text);
          if (message !== undefined) context.report({ loc: first.loc, message });
        }
      },
    };
  },
};
