const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Splits the reply of a model that thinks aloud inside its text (DeepSeek R1 served locally). Without both tags, or
 * with them in the wrong order, all of it is content.
 */
export function splitThought(text: string): { thought: string | null; content: string } {
  const start = text.indexOf(OPEN);
  const end = text.indexOf(CLOSE);
  if (start === -1 || end < start) return { thought: null, content: text };
  return {
    thought: text.slice(start + OPEN.length, end).trim(),
    content: text.slice(end + CLOSE.length).trim(),
  };
}

/** Reasoning that comes in a field of its own is shown between the same tags while it streams. */
export const THOUGHT_TAGS = { open: OPEN, close: CLOSE };
