import { posix } from "node:path";
import { repositoryUrl } from "../package/repository.mjs";
import { addressOf, PLACES, ROOT } from "./pages.mjs";

// The types of the Markdown parser are not among the project's packages: what is used of it.
/**
 * @typedef {{ type: string, children: Token[] | null, attrGet(name: string): string | null, attrSet(name: string, value: string): void }} Token
 *
 * @typedef {object} Markdown
 * @property {{ ruler: { push(name: string, rule: (state: { tokens: Token[], env: { relativePath: string } }) => void): void } }} core
 * @property {{ rules: Record<string, (...given: unknown[]) => string> }} renderer
 */

/**
 * Turns the links of the pages, which lead through the repository, into links of the site. A file that is not a page is on the web
 * only with the repository: without its address, the link is plain text.
 *
 * @param {Markdown} markdown
 */
export function linksOfSite(markdown) {
  const repository = repositoryUrl(ROOT);
  markdown.core.ruler.push("links-of-site", ({ tokens, env }) => {
    const source = sourceOf(env.relativePath);
    for (const { children } of tokens) {
      /** @type {boolean[]} */
      const kept = [];
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const target = siteLink(source, token.attrGet("href") ?? "", repository);
          kept.push(target !== undefined);
          if (target === undefined) token.type = "text";
          else token.attrSet("href", target);
        } else if (token.type === "image") {
          const file = posix.join(posix.dirname(source), token.attrGet("src") ?? "");
          token.attrSet("src", `/${file.replace(/^docs\//, "")}`);
        } else if (token.type === "link_close" && kept.pop() === false) token.type = "text";
      }
    }
  });
}

/**
 * Writes braces as text, which the templates of Vue would evaluate.
 *
 * @param {Markdown} markdown
 */
export function plainBraces(markdown) {
  for (const rule of /** @type {const} */ (["text", "code_inline"])) {
    const render = markdown.renderer.rules[rule];
    markdown.renderer.rules[rule] = (...given) =>
      (render?.(...given) ?? "").replaceAll("{{", "&#123;&#123;");
  }
}

/** @param {string} page the file on the site */
function sourceOf(page) {
  return Object.keys(PLACES).find((source) => PLACES[source] === page) ?? page;
}

/**
 * The address on the site that a link of the repository leads to; undefined for a file that is nowhere on the web.
 *
 * @param {string} source the page's file in the repository
 * @param {string} href
 * @param {string | undefined} repository the address of the repository
 */
export function siteLink(source, href, repository) {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(source), path).replace(/\/$/, "");
  const page = PLACES[target] ?? PLACES[posix.join(target, "README.md")];
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (page !== undefined) return `${addressOf(page)}${hash}`;
  return repository && `${repository}/blob/main/${target}${hash}`;
}
