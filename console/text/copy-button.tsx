import { useState } from "react";
import { Icon } from "../parts/icon.tsx";

export function CopyButton({ text, name = "Copy" }: { text: string; name?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      className="button quiet small"
      type="button"
      onClick={() => void copy().catch(() => undefined)}
    >
      <Icon name="copy" />
      {copied ? "Copied" : name}
    </button>
  );
}
