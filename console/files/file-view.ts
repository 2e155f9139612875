import type { TeamClient } from "troupe/client";

/** The preview of a file. @property size in bytes */
export type FileView = { size: number } & (
  | { kind: "image"; content: Blob }
  | { kind: "markdown"; text: string }
  | { kind: "text"; text: string; language: string }
  /** Neither text nor an image. */
  | { kind: "bytes" }
  | { kind: "large" }
);

/** The largest previewed file, in bytes. Larger files can only be downloaded. */
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

/** The language of a file by its extension, where the two differ. */
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

export async function viewOf(team: TeamClient, path: string): Promise<FileView> {
  const answer = await team.readFile(path);
  const announced = Number(answer.headers.get("content-length") ?? 0);
  if (announced > LARGEST_VIEW) {
    await answer.body?.cancel();
    return { size: announced, kind: "large" };
  }
  const content = await answer.arrayBuffer();
  const size = content.byteLength;
  const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
  if (IMAGES.has(type)) return { size, kind: "image", content: new Blob([content], { type }) };
  const text = textOf(content);
  if (text === undefined) return { size, kind: "bytes" };
  const end = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  if (end === "md") return { size, kind: "markdown", text };
  return { size, kind: "text", text, language: LANGUAGES[end] ?? end };
}

/** Undefined for bytes that are not UTF-8 or contain NULs. */
function textOf(content: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
