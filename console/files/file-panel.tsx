import { type ReactNode, useEffect, useRef } from "react";
import type { TeamClient } from "troupe/client";
import { Link } from "wouter";
import { type Artefact, BesideContext } from "../parts/beside.ts";
import { IconButton } from "../parts/icon-button.tsx";
import { visibleName } from "../text/foreign.ts";
import { DownloadButton } from "./download-button.tsx";
import { FileContent } from "./file-preview.tsx";

interface FilePanelProps {
  team: TeamClient;
  path: string;
  onClose: () => void;
}

/** A file of the team beside its conversation. */
export function FilePanel({ team, path, onClose }: FilePanelProps) {
  const actions = (
    <>
      <Link className="button quiet small" href={`/teams/${team.id}/files`}>
        All files
      </Link>
      <DownloadButton team={team} path={path} />
    </>
  );
  return (
    <Panel label="File" title={path} actions={actions} onClose={onClose}>
      <FileContent key={path} team={team} path={path} />
    </Panel>
  );
}

/** A part of a message beside its conversation. */
export function ArtefactPanel({ artefact, onClose }: { artefact: Artefact; onClose: () => void }) {
  return (
    <Panel label="Preview" title={artefact.title} onClose={onClose}>
      {artefact.content}
    </Panel>
  );
}

interface PanelProps {
  label: string;
  title: string;
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** A panel that has the focus when it opens. Escape closes it. */
function Panel({ label, title, actions, onClose, children }: PanelProps) {
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => content.current?.focus(), [title]);
  return (
    <aside
      className="file-panel"
      aria-label={label}
      onKeyDown={({ key }) => {
        if (key === "Escape") onClose();
      }}
    >
      <header>
        <h2 title={visibleName(title)}>{visibleName(title)}</h2>
        {actions}
        <IconButton icon="close" name="Close" onClick={onClose} />
      </header>
      <div
        ref={content}
        className="file-panel-body"
        tabIndex={0}
        role="region"
        aria-label="Content"
      >
        <BesideContext value={undefined}>{children}</BesideContext>
      </div>
    </aside>
  );
}
