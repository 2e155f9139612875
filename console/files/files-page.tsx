import { Empty } from "../parts/empty.tsx";
import { useCallback } from "react";
import type { DirectoryChange, FileInfo } from "troupe/client";
import { useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useList } from "../hooks/use-list.ts";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { useFramedTeam } from "../team/framed-team.ts";
import { visibleName } from "../text/foreign.ts";
import { FilePreview } from "./file-preview.tsx";
import { FileTable } from "./file-table.tsx";
import { Upload } from "./upload.tsx";

const PAGE = 100;
/** Changes of runs, because runs write files. */
const KINDS: readonly DirectoryChange["kind"][] = ["run"];

/** The files that a team's code reads and writes. */
export function FilesPage() {
  const { teamId, handle: team } = useFramedTeam();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const page = await team.files({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
      return { items: page.files, next: page.next_cursor };
    },
    [team],
  );
  const { value, error, reload, hasMore, loadMore } = useList(load, KINDS);
  const [parameters, setParameters] = useSearchParams();
  const opened = parameters.get("open");
  const show = (path: string | undefined): void =>
    setParameters(path === undefined ? {} : { open: path }, { replace: path === undefined });
  const { postpone, undo } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("runs:write");
  const keyOf = ({ path, modified_at }: FileInfo): string =>
    `file ${teamId} ${modified_at} ${path}`;

  const remove = (file: FileInfo): void => {
    show(undefined);
    postpone({
      key: keyOf(file),
      text: `${visibleName(file.path)} was deleted.`,
      action: () => team.deleteFile(file.path),
    });
  };
  /** Uploading a file whose deletion is pending replaces it and cancels the deletion. */
  const write = (file: File): Promise<unknown> => {
    for (const one of value ?? []) if (one.path === file.name) undo(keyOf(one));
    return team.writeFile(file.name, file);
  };

  const files = value?.filter((file) => !gone.has(keyOf(file)));
  const isUnavailable = value === undefined && error !== undefined;
  const openedFile = files?.find(({ path }) => path === opened);
  return (
    <div className="page">
      {mayWrite && !isUnavailable && <Upload onFile={write} onUploaded={reload} />}
      {isUnavailable && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {files?.length === 0 && (
        <Empty title="No files yet." text="Files that the team's code writes appear here." />
      )}
      {files !== undefined && files.length > 0 && (
        <FileTable
          team={team}
          files={files}
          onOpen={({ path }) => show(path)}
          onDelete={mayWrite ? remove : undefined}
        />
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          <Icon name="down" />
          Show more
        </button>
      )}
      {opened !== null && (
        <FilePreview
          key={opened}
          team={team}
          path={opened}
          onClose={() => show(undefined)}
          onDelete={mayWrite && openedFile ? () => remove(openedFile) : undefined}
        />
      )}
    </div>
  );
}
