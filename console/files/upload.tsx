import { useEffect, useRef, useState } from "react";
import type { TeamClient } from "troupe/client";
import { Icon } from "../parts/icon.tsx";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";

interface UploadProps {
  team: TeamClient;
  /** A file of this path is about to be written. */
  onUpload: (path: string) => void;
  onUploaded: () => void;
}

/** Writes files that are chosen, or dropped anywhere on the page. */
export function Upload({ team, onUpload, onUploaded }: UploadProps) {
  const { attempt, tell } = useNotices();
  const [left, setLeft] = useState(0);
  const chooser = useRef<HTMLInputElement>(null);

  const upload = async (files: readonly File[]): Promise<void> => {
    setLeft((count) => count + files.length);
    for (const file of files) {
      onUpload(file.name);
      await attempt(async () => {
        await team.writeFile(file.name, file);
        tell(`${visibleName(file.name)} was uploaded.`);
        onUploaded();
      });
      setLeft((count) => count - 1);
    }
  };
  const dragging = useDrop((files) => void upload(files));

  return (
    <div className="upload" data-dragging={dragging}>
      <input
        ref={chooser}
        type="file"
        hidden
        multiple
        onChange={({ currentTarget }) => {
          void upload([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      <button className="button" type="button" onClick={() => chooser.current?.click()}>
        <Icon name="upload" />
        Upload files
      </button>
      <span className="muted" role="status">
        {left > 0
          ? `Uploading ${left === 1 ? "a file" : `${left} files`}`
          : dragging
            ? "Drop them now"
            : "or drop them here. A file of the same name is replaced."}
      </span>
    </div>
  );
}

/** Takes files that are dropped on the page. @returns whether something is being dragged over it */
function useDrop(onDrop: (files: File[]) => void): boolean {
  const [dragging, setDragging] = useState(false);
  const dropped = useRef(onDrop);
  dropped.current = onDrop;
  useEffect(() => {
    const left = new AbortController();
    const listen = (type: "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void) =>
      document.addEventListener(type, act, { signal: left.signal });
    listen("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setDragging(true);
    });
    listen("dragleave", ({ relatedTarget }) => {
      if (relatedTarget === null) setDragging(false);
    });
    listen("drop", (event) => {
      event.preventDefault();
      setDragging(false);
      dropped.current([...(event.dataTransfer?.files ?? [])]);
    });
    return () => left.abort();
  }, []);
  return dragging;
}
