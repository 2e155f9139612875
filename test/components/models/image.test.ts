import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Image } from "troupe";

const GIF = btoa(`GIF89a${"\0".repeat(21)}`);
const BROKEN_INTO_LINES = `${GIF.slice(0, 8)}\r\n${GIF.slice(8)}\n`;

describe("Image", () => {
  const server = createServer(({ url }, response) => {
    response.statusCode = url === "/plot.gif" ? 200 : 404;
    response.end(url === "/plot.gif" ? Buffer.from(GIF, "base64") : "nothing here");
  });
  let address = "";

  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test.each([
    ["base64", () => Image.fromBase64(GIF)],
    ["base64 with its type", () => Image.fromBase64(GIF, "image/gif")],
    ["base64 in lines", () => Image.fromBase64(BROKEN_INTO_LINES)],
    ["a data URL", () => Image.fromBase64(`data:image/gif;base64,${GIF}`)],
    ["a data URL that names no type", () => Image.fromBase64(`data:;base64,${GIF}`)],
    ["a blob", () => Image.fromBlob(new Blob([Buffer.from(GIF, "base64")]))],
    ["a URL", () => Image.fromUrl(`${address}/plot.gif`)],
    ["a data URL as a URL", () => Image.fromUrl(`data:image/gif;base64,${GIF}`)],
  ])("makes an image of %s", async (_, make) => {
    expect(await make()).toEqual({ data: GIF });
  });

  test("fetches with the given function", async () => {
    const asked: unknown[] = [];
    const ask: typeof fetch = (input, init) => {
      asked.push(input);
      return fetch(input, init);
    };
    await Image.fromUrl(new URL(`${address}/plot.gif`), { fetch: ask });
    expect(asked).toEqual([`${address}/plot.gif`]);
  });

  test.each([
    [
      "text",
      () => Image.fromBase64("hello"),
      "data must be base64 of a PNG, JPEG, WebP or GIF picture",
    ],
    [
      "base64 that breaks off",
      () => Image.fromBase64(GIF.slice(0, -1)),
      "data must be base64 of a PNG",
    ],
    [
      "bytes of another type",
      () => Image.fromBase64(GIF, "image/png"),
      'data is image/gif, not "image/png"',
    ],
    [
      "a data URL that names another type",
      () => Image.fromBase64(`data:image/png;base64,${GIF}`),
      'data is image/gif, not "image/png"',
    ],
    ["a text file", () => Image.fromBlob(new Blob(["hello"])), "data must be base64 of a PNG"],
    ["a page that is missing", () => Image.fromUrl(`${address}/none`), "cannot be read: HTTP 404"],
    ["a server that is away", () => Image.fromUrl("http://127.0.0.1:1/plot.gif"), "cannot be read"],
  ])("refuses %s", async (_, make, message) => {
    await expect(async () => make()).rejects.toThrow(message);
  });
});
