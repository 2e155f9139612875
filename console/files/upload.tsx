import { counted } from "../parts/numbers.ts";
import { useEffect, useRef, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";

interface UploadProps {
  onFile: (file: File) => Promise<unknown>;
  onUploaded: () => void;
}

/** Uploads files that the user selects, or drops anywhere on the page. */
export function Upload({ onFile, onUploaded }: UploadProps) {
  const { attempt, tell } = useNotices();
  const [left, setLeft] = useState(0);
  const chooser = useRef<HTMLInputElement>(null);

  const upload = async (files: readonly File[]): Promise<void> => {
    setLeft((count) => count + files.length);
    for (const file of files) {
      await attempt(async () => {
        await onFile(file);
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
          ? `Uploading ${counted(left, "file")}`
          : dragging
            ? "Drop the files now"
            : "or drop them here. Files with the same name are replaced."}
      </span>
    </div>
  );
}

/** Handles files that are dropped on the page. @returns whether files are being dragged over it */
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
