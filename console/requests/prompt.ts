/** What a human is asked; empty where it is only what AutoGen's console writes before a field. */
export function promptOf({ prompt }: { prompt: string }): string {
  const text = prompt.trim();
  return /^enter your response:?$/i.test(text) ? "" : text;
}
