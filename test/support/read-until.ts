/**
 * Reads a stream as text until the text is enough, and leaves the stream open.
 *
 * @throws Error with what was read when the stream ends before
 */
export async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array | string>,
  isEnough: RegExp | ((text: string) => boolean),
): Promise<string> {
  const decoder = new TextDecoder();
  const enough = isEnough instanceof RegExp ? (text: string) => isEnough.test(text) : isEnough;
  let text = "";
  while (!enough(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended after ${JSON.stringify(text)}`);
    text += typeof value === "string" ? value : decoder.decode(value, { stream: true });
  }
  return text;
}
