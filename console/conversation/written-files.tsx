import { useCallback, useEffect, useMemo, useState } from "react";
import { useTroupe } from "troupe/react";
import { Link, useParams } from "wouter";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Icon } from "../parts/icon.tsx";
import { visibleName } from "../text/foreign.ts";

const IMAGE = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;
/** Plots are small; a larger image is opened on demand. */
const LARGEST_IMAGE = 5_000_000;

/** The files that code has written, from the metadata of the message with its output: images as such, others as links. */
export function WrittenFiles({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  const { id, team = id } = useParams<{ id?: string; team?: string }>();
  const files = pathsOf(metadata["files"]);
  if (files.length === 0) return null;
  return (
    <div className="files">
      {files.map((path) => (
        <FileLink key={path} path={path} team={team} />
      ))}
    </div>
  );
}

/** Opens the file beside the conversation. */
function FileLink({ path, team }: { path: string; team: string | undefined }) {
  const name = visibleName(path);
  if (team === undefined) return <code>{name}</code>;
  const search = new URLSearchParams({ open: path });
  return (
    <Link className={IMAGE.test(path) ? "artefact" : "chip"} href={`/teams/${team}?${search}`}>
      {IMAGE.test(path) ? (
        <WrittenImage team={team} path={path} />
      ) : (
        <>
          <Icon name="file" />
          {name}
        </>
      )}
    </Link>
  );
}

function WrittenImage({ team, path }: { team: string; path: string }) {
  const client = useTroupe();
  const load = useCallback(async () => {
    const answer = await client.team(team).readFile(path);
    const size = Number(answer.headers.get("content-length") ?? 0);
    if (size <= LARGEST_IMAGE) return answer.blob();
    await answer.body?.cancel();
    return undefined;
  }, [client, team, path]);
  const { value: content } = useLoaded(load);
  const [broken, setBroken] = useState(false);
  const address = useAddress(content);
  const name = visibleName(path);
  return (
    <>
      {address !== undefined && !broken && (
        <img src={address} alt={`Preview of ${name}`} onError={() => setBroken(true)} />
      )}
      <span className="artefact-name">
        <Icon name="file" />
        {name}
      </span>
    </>
  );
}

/** An address for bytes of this page. */
function useAddress(content: Blob | undefined): string | undefined {
  const address = useMemo(() => content && URL.createObjectURL(content), [content]);
  useEffect(
    () => () => {
      if (address !== undefined) URL.revokeObjectURL(address);
    },
    [address],
  );
  return address;
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
