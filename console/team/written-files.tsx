import { visibleName } from "../text/foreign.ts";

/** The files that code has written, by the metadata of the message with its output. */
export function WrittenFiles({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  const files = pathsOf(metadata["files"]);
  if (files.length === 0) return null;
  return (
    <p className="files">
      Files:{" "}
      {files.map((path) => (
        <code key={path}>{visibleName(path)}</code>
      ))}
    </p>
  );
}

function pathsOf(json: string | undefined): string[] {
  if (json === undefined) return [];
  try {
    const paths: unknown = JSON.parse(json);
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}
