/** A message with a list content in a selector's prompt, as Python prints it: on one line, and blank lines follow. */
const PRINTED_LIST = /(?<=^[^\n:]+: )\[(?=['"<]|FunctionCall\().*\](?=\n\n)/m;

/** Whether two prompts say the same but for how lists in the conversation are printed. */
export function samePrompt(expected: string, actual: string): boolean {
  const [first = "", ...parts] = expected.split(PRINTED_LIST);
  if (parts.length === 0) return expected === actual;
  const last = parts.pop() ?? "";
  if (!actual.startsWith(first) || !actual.endsWith(last)) return false;
  let position = first.length;
  for (const part of parts) {
    const found = actual.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position <= actual.length - last.length;
}
