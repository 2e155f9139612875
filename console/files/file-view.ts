import type { FileInfo, TeamClient } from "troupe/client";

/** How a file can be shown. */
export type FileView =
  | { kind: "image"; content: Blob }
  | { kind: "markdown"; text: string }
  | { kind: "text"; text: string; language: string }
  /** Neither text nor an image. */
  | { kind: "bytes" }
  | { kind: "large" };

/** Bytes; larger files are downloaded. */
export const LARGEST_VIEW = 5_000_000;

/** Images that cannot contain scripts. */
const IMAGES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
]);

/** The language of a file by the end of its name, where that is not its name. */
const LANGUAGES: Readonly<Record<string, string>> = {
  py: "python",
  js: "javascript",
  mjs: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  sh: "bash",
  rs: "rust",
  yml: "yaml",
  html: "xml",
  svg: "xml",
  patch: "diff",
  ipynb: "json",
  jsonl: "json",
};

export async function viewOf(team: TeamClient, file: FileInfo): Promise<FileView> {
  const { path, size, media_type } = file;
  if (size > LARGEST_VIEW) return { kind: "large" };
  const content = await (await team.readFile(path)).arrayBuffer();
  const [type = ""] = media_type.split(";");
  if (IMAGES.has(type)) return { kind: "image", content: new Blob([content], { type }) };
  const text = textOf(content);
  if (text === undefined) return { kind: "bytes" };
  const end = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  if (end === "md") return { kind: "markdown", text };
  return { kind: "text", text, language: LANGUAGES[end] ?? end };
}

/** Undefined for what is not UTF-8, or has NULs. */
function textOf(content: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
