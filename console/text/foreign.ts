/** Characters that are invisible, or that reverse the writing direction. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}]/gu;

/** A name on one line, with visible marks in place of invisible characters. */
export function visibleName(name: string): string {
  return name.replaceAll(/\s+/g, " ").replaceAll(INVISIBLE, "\u{FFFD}");
}

/** Code, with such characters shown by number, because they can make it look like other code. */
export function visibleCode(code: string): string {
  return code.replaceAll(INVISIBLE, (letter) => {
    const number = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return letter === "\r" ? letter : `[U+${number}]`;
  });
}

/** The address of a link if it is safe to open, otherwise undefined. */
export function safeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}

/** The address of a page on the web, if it is one. */
export function webLink(href: string): string | undefined {
  const link = safeLink(href);
  return link?.startsWith("http") ? link : undefined;
}

/** The address of an inline image; undefined for an image that would have to be fetched. */
export function safeImage(href: string): string | undefined {
  return /^data:image\/(png|jpeg|gif|webp|avif);base64,[\w+/=\s]+$/i.test(href) ? href : undefined;
}

/** The address of the image of a message. @param data base64 */
export function imageAddress(data: string): string | undefined {
  const kind = KINDS.find(([start]) => data.startsWith(start))?.[1];
  return kind === undefined ? undefined : safeImage(`data:image/${kind};base64,${data}`);
}

/** The first characters of images in base64, by format. */
const KINDS = [
  ["iVBOR", "png"],
  ["/9j/", "jpeg"],
  ["R0lGOD", "gif"],
  ["UklGR", "webp"],
] as const;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
};

/** The entities that models write; others stay as they are. */
export function withoutEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? all;
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
