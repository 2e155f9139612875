import type { attachmentOf } from "troupe/client";
import { Icon } from "../parts/icon.tsx";
import { imageAddress, visibleName } from "../text/foreign.ts";

export type Attachment = Awaited<ReturnType<typeof attachmentOf>>;

interface AttachmentsProps {
  files: readonly Attachment[];
  onRemove: (index: number) => void;
}

export function Attachments({ files, onRemove }: AttachmentsProps) {
  if (files.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attached files">
      {files.map(({ name, data }, index) => {
        const image = imageAddress(data);
        return (
          <li key={`${index} ${name}`}>
            {image === undefined ? (
              <span className="chip">{visibleName(name)}</span>
            ) : (
              <img src={image} alt={name} />
            )}
            <button
              className="button icon-only"
              type="button"
              aria-label={`Remove ${name}`}
              onClick={() => onRemove(index)}
            >
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
