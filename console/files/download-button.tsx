import type { TeamClient } from "troupe/client";
import { IconButton } from "../parts/icon-button.tsx";
import { saveFile } from "../parts/save-file.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";

/** Saves a file of a team where the browser keeps its downloads. */
export function DownloadButton({ team, path }: { team: TeamClient; path: string }) {
  const { attempt } = useNotices();
  const task = useButtonAction();
  const download = async (): Promise<void> => {
    const content = await (await team.readFile(path)).blob();
    saveFile(path.slice(path.lastIndexOf("/") + 1), content);
  };
  return (
    <IconButton
      icon="download"
      name={`Download ${visibleName(path)}`}
      title="Download"
      busy={task.busy}
      onClick={() => void task.run(() => attempt(download))}
    />
  );
}
