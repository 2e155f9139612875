import { expect, test } from "vitest";
import { readerOf } from "#components/models/http/body-reader.ts";

/** What a reader brings: its bytes, and the size of each piece. */
async function readAll(
  body: ReadableStream<Uint8Array>,
): Promise<{ text: string; pieces: number[] }> {
  const reader = readerOf(body);
  const decoder = new TextDecoder();
  const pieces: number[] = [];
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text, pieces };
    pieces.push(value.byteLength);
    text += decoder.decode(value, { stream: true });
  }
}

const TEXT = Array.from({ length: 20_000 }, (_, index) => `${index} `).join("");

test("a body that has arrived is read in pieces of more than 4 KB, whole and in order, in Workers", async () => {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const written = writer.write(new TextEncoder().encode(TEXT)).then(() => writer.close());
  const { text, pieces } = await readAll(readable);
  await written;
  expect(text).toBe(TEXT);
  expect(Math.max(...pieces)).toBe(32 * 1024);
});

test("a body that was created in JavaScript is read as it comes", async () => {
  const bytes = new TextEncoder().encode(TEXT);
  const made = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  expect(await readAll(made)).toEqual({ text: TEXT, pieces: [bytes.byteLength] });
});
