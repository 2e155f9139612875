import { Icon } from "../parts/icon.tsx";
import { imageAddress } from "../text/foreign.ts";

export interface Attachment {
  name: string;
  /** Base64. */
  data: string;
}

/** What a message can have as an image. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** @throws Error when the file cannot be read */
export async function attachmentOf(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return { name: file.name, data: btoa(binary) };
}

interface AttachmentsProps {
  images: readonly Attachment[];
  onRemove: (index: number) => void;
}

export function Attachments({ images, onRemove }: AttachmentsProps) {
  if (images.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attached images">
      {images.map(({ name, data }, index) => (
        <li key={`${index} ${name}`}>
          <img src={imageAddress(data)} alt={name} />
          <button
            className="button icon-only"
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => onRemove(index)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
