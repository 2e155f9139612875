import type { TeamClient } from "troupe/client";
import { Icon } from "../parts/icon.tsx";
import { saveFile } from "../parts/save-file.ts";
import { useTask } from "../hooks/use-task.ts";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";

/** Saves a file of a team where the browser keeps its downloads. */
export function DownloadButton({ team, path }: { team: TeamClient; path: string }) {
  const { attempt } = useNotices();
  const task = useTask();
  const download = async (): Promise<void> => {
    const content = await (await team.readFile(path)).blob();
    saveFile(path.slice(path.lastIndexOf("/") + 1), content);
  };
  return (
    <button
      className="button quiet icon-only"
      type="button"
      aria-label={`Download ${visibleName(path)}`}
      title="Download"
      disabled={task.busy}
      aria-busy={task.busy}
      onClick={() => void task.run(() => attempt(download))}
    >
      <Icon name="download" />
    </button>
  );
}
