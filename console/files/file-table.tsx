import type { FileInfo, TeamClient } from "troupe/client";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { bytesOf } from "../parts/numbers.ts";
import { Ago } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";
import { DownloadButton } from "./download-button.tsx";

interface FileTableProps {
  team: TeamClient;
  files: readonly FileInfo[];
  onOpen: (file: FileInfo) => void;
  onDelete: ((file: FileInfo) => void) | undefined;
}

export function FileTable({ team, files, onOpen, onDelete }: FileTableProps) {
  return (
    <table className="table files-table">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="number">
            Size
          </th>
          <th scope="col" className="number">
            Modified
          </th>
          <th scope="col">
            <span className="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {files.map((file) => (
          <tr key={file.path}>
            <td>
              <button className="row-name" type="button" onClick={() => onOpen(file)}>
                <Icon name="file" />
                <Name name={file.path} />
              </button>
            </td>
            <td className="number muted">{bytesOf(file.size)}</td>
            <td className="number muted">
              <Ago time={file.modified_at} />
            </td>
            <td className="row-actions">
              <DownloadButton team={team} path={file.path} />
              {onDelete && (
                <IconButton
                  icon="bin"
                  name={`Delete ${visibleName(file.path)}`}
                  title="Delete"
                  onClick={() => onDelete(file)}
                />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
