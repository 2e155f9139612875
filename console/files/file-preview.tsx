import { type ReactNode, useCallback, useEffect, useState } from "react";
import type { TeamClient } from "troupe/client";
import { Dialog } from "../dialogs/dialog.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { bytesOf } from "../parts/numbers.ts";
import { Problem } from "../parts/problem.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { CodeBlock } from "../text/code-block.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { DownloadButton } from "./download-button.tsx";
import { type FileView, LARGEST_VIEW, viewOf } from "./file-view.ts";

interface FilePreviewProps {
  team: TeamClient;
  path: string;
  onClose: () => void;
  onDelete: (() => void) | undefined;
}

/** The content of a file: an image, Markdown or text. */
export function FilePreview({ team, path, onClose, onDelete }: FilePreviewProps) {
  return (
    <Dialog title={visibleName(path)} onClose={onClose} wide>
      <FileContent team={team} path={path}>
        <DownloadButton team={team} path={path} />
        {onDelete && (
          <IconButton
            icon="bin"
            name={`Delete ${visibleName(path)}`}
            title="Delete"
            onClick={onDelete}
          />
        )}
      </FileContent>
    </Dialog>
  );
}

interface FileContentProps {
  team: TeamClient;
  path: string;
  /** Actions beside its size. */
  children?: ReactNode;
}

/** The content of a file, as far as it can be shown. */
export function FileContent({ team, path, children }: FileContentProps) {
  const load = useCallback(() => viewOf(team, path), [team, path]);
  const { value: view, error } = useLoaded(load);
  return (
    <>
      <div className="file-facts muted">
        {view && bytesOf(view.size)}
        <span className="file-actions">{children}</span>
      </div>
      <Problem error={error} />
      {view === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {view !== undefined && <View view={view} name={path} />}
    </>
  );
}

function View({ view, name }: { view: FileView; name: string }) {
  switch (view.kind) {
    case "image":
      return <Picture content={view.content} name={name} />;
    case "markdown":
      return <Markdown text={view.text} />;
    case "text":
      return <CodeBlock code={view.text} language={view.language} />;
    case "large":
      return (
        <p className="muted">
          Files over {bytesOf(LARGEST_VIEW)} have no preview. Download the file instead.
        </p>
      );
    case "bytes":
      return (
        <p className="muted">Only text and images have a preview. Download the file instead.</p>
      );
  }
}

function Picture({ content, name }: { content: Blob; name: string }) {
  const [address, setAddress] = useState<string>();
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  if (broken) return <p className="muted">The image is damaged.</p>;
  return (
    address && (
      <img
        className="file-image"
        src={address}
        alt={visibleName(name)}
        onError={() => setBroken(true)}
      />
    )
  );
}
