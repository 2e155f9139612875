import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AssetFiles, readHeaderRules } from "#cli/serve/asset-files.ts";

let root: string;
let socket: string;
let files: AssetFiles;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "troupe-assets-"));
  const directory = join(root, "public");
  mkdirSync(join(directory, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "secret");
  writeFileSync(join(directory, "index.html"), "<p>page</p>");
  writeFileSync(join(directory, "about.html"), "<p>about</p>");
  writeFileSync(join(directory, "assets/app.js"), "run()");
  writeFileSync(
    join(directory, "_headers"),
    "/*\n  X-Content-Type-Options: nosniff\n\n/assets/*\n  Cache-Control: immutable\n",
  );
  files = new AssetFiles(directory);
  socket = join(root, "socket");
  await files.listen(socket);
});

afterAll(() => {
  files.close();
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

async function ask(path: string, { method = "GET", headers = {} } = {}): Promise<Answer> {
  const sent = request({ socketPath: socket, path, method, headers }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const body = await text(response);
  return { status: response.statusCode, headers: response.headers, body };
}

test("a file has its type, the headers of its paths, and a tag by which it is not sent again", async () => {
  const { status, headers, body } = await ask("/assets/app.js?v=1");
  expect({ status, body }).toEqual({ status: 200, body: "run()" });
  expect(headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "immutable",
    "x-content-type-options": "nosniff",
  });
  const again = await ask("/assets/app.js", { headers: { "if-none-match": String(headers.etag) } });
  expect(again).toMatchObject({ status: 304, body: "" });
  expect(await ask("/assets/app.js", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
});

test.each([
  ["/", "<p>page</p>"],
  ["/about", "<p>about</p>"],
])("%s is the page %j", async (path, body) => {
  expect(await ask(path)).toMatchObject({ status: 200, body });
});

test.each([
  "/missing",
  "/../secret.txt",
  "/%2e%2e/secret.txt",
  "/..%2fsecret.txt",
  "/_headers",
  "/%00",
  "/%",
])("%s does not exist", async (path) => {
  expect(await ask(path)).toMatchObject({ status: 404, body: "" });
});

test("a file cannot be written", async () => {
  expect((await ask("/index.html", { method: "PUT" })).status).toBe(404);
});

test.each(["/:name", "name: value", "  ! Cache-Control"])(
  "the line %j of _headers is refused with its number",
  (line) => {
    expect(() => readHeaderRules(`# rules\n${line}`)).toThrow(
      `Line 2 of _headers is ${JSON.stringify(line.trim())}`,
    );
  },
);

test("a name that the disk does not take is not found, and the server lives", async () => {
  expect((await ask(`/assets/${"a".repeat(300)}`)).status).toBe(404);
  expect((await ask("/")).status).toBe(200);
});
