/**
 * The names under which people get Troupe. They are decided here; a test compares each file that has to repeat one, and refuses a page
 * that tells people to download what is not published yet.
 */
export const PUBLIC_NAMES = {
  /** The package on npm. */
  package: "troupe",
  /** The package behind `npm create`. */
  creator: "create-troupe",
  /** The program in a terminal. */
  command: "troupe",
  /** The client in Python: `troupe` belongs to another project on its index. */
  python: "troupe-teams",
  /** The images of the service and of its sandbox. */
  images: { service: "troupe", sandbox: "troupe-sandbox" },
} as const;

/** True for a name under which the public can download. */
export const PUBLISHED: { readonly [name in keyof typeof PUBLIC_NAMES]: boolean } = {
  package: false,
  creator: false,
  command: false,
  python: false,
  images: false,
};

/** The address of the documentation on the web, without a slash at its end, once there is one. */
export const DOCS_URL: string | undefined = undefined;

/**
 * The path or the address of a page of the documentation, for messages.
 *
 * @param page the file in docs
 * @param folder where the reader has the files of docs
 */
export function docsPage(page: `${string}.md`, folder = "docs"): string {
  return DOCS_URL === undefined
    ? `${folder}/${page}`
    : `${DOCS_URL}/${page.slice(0, -".md".length)}`;
}
