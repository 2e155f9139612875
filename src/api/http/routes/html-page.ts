/** The media type of the pages. */
export const PAGE = "text/html";

const STYLE =
  "body{font:16px/1.5 system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1.5rem}";

/** The rules that each page has. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/**
 * A page of Troupe's own for people outside of the console, without scripts.
 *
 * @param content HTML
 * @param more `policy` adds to the rules of its contents, `style` to its styles; the others are headers
 */
export function htmlPage(
  status: number,
  title: string,
  content: string,
  { policy = "", style = "", ...headers }: Readonly<Record<string, string>>,
): Response {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${escaped(title)}</title><style>${STYLE}${style}</style><main><h1>${escaped(title)}</h1>${content}</main></html>`;
  return new Response(body, {
    status,
    headers: {
      "content-type": `${PAGE}; charset=utf-8`,
      "content-security-policy": policy === "" ? POLICY : `${POLICY}; ${policy}`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "x-robots-tag": "noindex, nofollow",
      ...headers,
    },
  });
}

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
