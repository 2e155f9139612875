import { Link, useParams } from "wouter";
import { visibleName } from "../text/foreign.ts";

/** The files that code has written, by the metadata of the message with its output. */
export function WrittenFiles({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  const { id, team = id } = useParams<{ id?: string; team?: string }>();
  const files = pathsOf(metadata["files"]);
  if (files.length === 0) return null;
  return (
    <p className="files">
      Files:{" "}
      {files.map((path) => {
        const name = <code>{visibleName(path)}</code>;
        if (team === undefined) return <span key={path}>{name}</span>;
        return (
          <Link key={path} href={`/teams/${team}/files?open=${encodeURIComponent(path)}`}>
            {name}
          </Link>
        );
      })}
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
