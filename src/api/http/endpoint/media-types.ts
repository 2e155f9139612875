import { getMimeType } from "hono/utils/mime";

/** Types that Hono does not know. */
const OTHERS: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  flac: "audio/flac",
  m4a: "audio/mp4",
};

/** The media type of a file by the extension of its name. Its content is not inspected. */
export function mediaTypeOfPath(path: string): string {
  const name = path.toLowerCase();
  return (
    getMimeType(name) ?? OTHERS[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
  );
}
