/** The question to a human; empty for the default prompt of AutoGen's console. */
export function promptOf({ prompt }: { prompt: string }): string {
  const text = prompt.trim();
  return /^enter your response:?$/i.test(text) ? "" : text;
}
