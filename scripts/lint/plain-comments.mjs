// Comments are plain sentences: the field's words, a subject and a verb (docs/contributing/names.md). This rule refuses
// phrases that a reader stumbles over, so that they do not come back.

/** How a comment must not begin, and what to write instead. @type {[RegExp, string][]} */
const BEGINNINGS = [
  [/^of\s/i, "begin with a subject or a verb: a comment does not begin with `of`"],
  [/^tells?\s/i, "say reports, encodes, distinguishes or shows"],
];

/** What neither comments nor pages say, and what to write instead. @type {[RegExp, string][]} */
const PHRASES = [
  [/\b(is|are|was|were|be|been|being|gets?|have|has) told\b/i, "say reported, announced or sent"],
  [/\b(told|tells?|telling) of\b/i, "say reports, announces or describes"],
  [/\bso many\b/i, "say how many, a limit or `this many`"],
  [/\banew\b/i, "say again"],
  [/\bno more(?:[.;]|$)/i, "say no longer"],
  [/\bwhat (becomes|became|has become) of\b/i, "name the result"],
  [/\b(nobody|somebody)\b/i, "name who: the client, the caller, a reader"],
  [/\bgo(es)? on\b/i, "say continues"],
];

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

/** Why a comment is refused; undefined for a plain one. @param {string} comment */
export function fault(comment) {
  for (const text of texts(comment)) {
    const found = BEGINNINGS.find(([pattern]) => pattern.test(text));
    if (found !== undefined) return `write plain words: ${found[1]}`;
    const odd = oddPhrase(text);
    if (odd !== undefined) return odd;
  }
  return undefined;
}

/** Why a sentence is refused wherever it stands; undefined for a plain one. @param {string} text */
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

export const plainComments = {
  /** @param {any} context */
  create(context) {
    return {
      Program() {
        const { sourceCode } = context;
        for (const { first, text } of joined(sourceCode.getAllComments(), sourceCode.text)) {
          const message = fault(text);
          if (message !== undefined) context.report({ loc: first.loc, message });
        }
      },
    };
  },
};
