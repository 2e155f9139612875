import { endOf } from "troupe/client";
/** The media types of documents by the end of their names, where browsers give none. */
const TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown",
  markdown: "text/markdown",
  mdx: "text/markdown",
  html: "text/html",
  htm: "text/html",
  csv: "text/csv",
  pdf: "application/pdf",
};

const LONGEST_ID = 200;

/** The id of the document that a file becomes. */
export function documentId(name: string): string {
  return endOf(name.replaceAll(/[^A-Za-z0-9_.~-]+/g, "-"), LONGEST_ID);
}

export function documentType({ name, type }: Pick<File, "name" | "type">): string {
  const end = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return TYPES[end] ?? (type === "" ? "text/plain" : type);
}

/** The address of a collection's page, or of a document's, at a chunk. */
export function addressOf(collection: string, document?: string, chunk?: number): string {
  const page = `/memory/collections/${encodeURIComponent(collection)}`;
  if (document === undefined) return page;
  const place = chunk === undefined ? "" : `?chunk=${chunk}`;
  return `${page}/documents/${encodeURIComponent(document)}${place}`;
}
