import { useCallback, useId, useState } from "react";
import { ApiError, type TeamClient, type TeamTool } from "troupe/client";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";
import { OwnToolForm } from "./own-tool-form.tsx";

/** The tool by which clients of MCP run the team with arguments of its own. */
export function OwnTool({ team }: { team: TeamClient }) {
  const heading = useId();
  const { value, error, reload } = useLoaded(useCallback(() => storedTool(team), [team]));
  const [open, setOpen] = useState(false);
  const { postpone } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const keyOf = ({ updated_at }: TeamTool): string => `tool ${team.id} ${updated_at}`;
  const stored = value?.tool;
  const tool = stored !== undefined && !gone.has(keyOf(stored)) ? stored : undefined;
  return (
    <section className="stack" aria-labelledby={heading}>
      <h2 id={heading}>Tool for clients of MCP</h2>
      <p className="muted">
        Clients of MCP run a team by a tool with one text. A tool of its own has a name, a
        description and arguments.
      </p>
      {value === undefined && error !== undefined && <Failure error={error} onRetry={reload} />}
      {tool !== undefined && (
        <div className="item">
          <div className="item-main">
            <p className="item-title">
              <code>{tool.name}</code>
            </p>
            <p className="item-text">{visibleName(tool.description)}</p>
            <p className="item-text muted">{visibleName(tool.task)}</p>
          </div>
          {mayWrite && (
            <div className="item-actions" role="group" aria-label={tool.name}>
              <IconButton icon="edit" name="Edit" onClick={() => setOpen(true)} />
              <IconButton
                icon="bin"
                name="Delete"
                onClick={() =>
                  postpone({
                    key: keyOf(tool),
                    text: `The tool ${tool.name} was deleted.`,
                    action: () => team.deleteTool(),
                  })
                }
              />
            </div>
          )}
        </div>
      )}
      {mayWrite && value !== undefined && tool === undefined && (
        <div>
          <button className="button" type="button" onClick={() => setOpen(true)}>
            <Icon name="plus" />
            New tool
          </button>
        </div>
      )}
      {open && (
        <OwnToolForm
          team={team}
          tool={tool}
          onClose={() => setOpen(false)}
          onSaved={() => {
            setOpen(false);
            reload();
          }}
        />
      )}
    </section>
  );
}

async function storedTool(team: TeamClient): Promise<{ tool: TeamTool | undefined }> {
  try {
    return { tool: await team.tool() };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { tool: undefined };
    throw error;
  }
}
