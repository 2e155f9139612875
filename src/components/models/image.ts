import { type OutgoingFetch, outgoingFetch } from "../../outgoing/outgoing-fetch.ts";
import { dataUrlBytes, isBase64, toBase64 } from "../../core/base64.ts";
import { errorMessage, shortForm, ValueError } from "../../core/errors.ts";
import { type ImageMediaType, imageMediaType } from "../../core/models/images.ts";
import type { ImageContent } from "../../core/models/llm-messages.ts";

const KINDS = "a PNG, JPEG, WebP or GIF picture";

/**
 * Makes images for messages, `{ data }` with base64, of what a program has (AutoGen `Image`). Every function throws a ValueError
 * for bytes that are not a PNG, JPEG, WebP or GIF picture.
 *
 * @example
 * const picture = await Image.fromUrl("https://example.com/plot.png");
 * await agent.run({ type: "MultiModalMessage", source: "user", content: ["What do you see?", picture] });
 */
export const Image = {
  /**
   * An image of base64, which may be broken into lines, or of a base64 `data:` URL.
   *
   * @param type the media type that the bytes must have; any of the four when it is left out
   * @throws ValueError also when the bytes are of another type
   */
  fromBase64(data: string, type?: ImageMediaType): ImageContent {
    const url = dataUrlBytes(data);
    const bytes = url?.data ?? data.replaceAll(/\s/g, "");
    const found = imageMediaType(bytes);
    if (found === undefined || !isBase64(bytes))
      throw new ValueError(`data must be base64 of ${KINDS}`);
    const expected = type ?? (url?.mediaType || found);
    if (expected !== found) throw new ValueError(`data is ${found}, not ${shortForm(expected)}`);
    return { data: bytes };
  },

  /** An image of a `Blob` or a `File`. Its bytes decide what it is, not its type, which browsers take from the file's name. */
  async fromBlob(blob: Blob): Promise<ImageContent> {
    return Image.fromBase64(toBase64(new Uint8Array(await blob.arrayBuffer())));
  },

  /**
   * An image that a server has, or of a `data:` URL. Nothing limits which server is asked: check URLs of other people first.
   *
   * @param options `fetch` makes the request; the global one when it is left out
   * @throws ValueError also when the server cannot be reached or answers with an error
   */
  async fromUrl(
    url: string | URL,
    { fetch: request = fetch }: { fetch?: typeof fetch | undefined } = {},
  ): Promise<ImageContent> {
    const address = String(url);
    if (address.startsWith("data:")) return Image.fromBase64(address);
    const blob = await download(address, outgoingFetch({ fetch: request }));
    try {
      return await Image.fromBlob(blob);
    } catch (error) {
      throw new ValueError(`the answer of ${shortForm(address)} must be ${KINDS}`, {
        cause: error,
      });
    }
  },
};

async function download(address: string, request: OutgoingFetch): Promise<Blob> {
  let response: Response;
  try {
    response = await request(address);
    if (response.ok) return await response.blob();
  } catch (error) {
    throw new ValueError(`${shortForm(address)} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  await response.body?.cancel();
  throw new ValueError(`${shortForm(address)} cannot be read: HTTP ${response.status}`);
}
