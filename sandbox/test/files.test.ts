import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request as httpRequest } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { Sandbox } from "../../test/support/sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start({
    settings: {
      SANDBOX_WORKSPACE_BYTES: "20000",
      SANDBOX_WORKSPACE_FILES: "20",
      SANDBOX_MAX_FILE_BYTES: "10000",
    },
  });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const put = (
  session: string,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Response> =>
  sandbox.request(`/v1/sessions/${session}/files/${path}`, { method: "PUT", body });
const get = (session: string, path: string): Promise<Response> =>
  sandbox.request(`/v1/sessions/${session}/files/${path}`);
const remove = (session: string, path: string): Promise<Response> =>
  sandbox.request(`/v1/sessions/${session}/files/${path}`, { method: "DELETE" });

async function run(session: string, code: string, language = "sh"): Promise<string> {
  const response = await sandbox.execute(session, [[language, code]]);
  return ((await response.json()) as { output: string }).output;
}

async function list(session: string): Promise<string[]> {
  const response = await sandbox.request(`/v1/sessions/${session}/files`);
  return ((await response.json()) as { files: { path: string }[] }).files.map(({ path }) => path);
}

/** Sends a path as it is: `fetch` would resolve it first. */
async function raw(method: string, path: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(sandbox.url);
  const request = httpRequest({
    hostname,
    port,
    method,
    path,
    headers: { authorization: `Bearer ${sandbox.key}` },
  });
  request.end(method === "PUT" ? "intruder" : undefined);
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      void textOf(response).then((body) => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
}

describe("the files of a session", () => {
  test("are transferred both ways, whatever their contents", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect((await put("both", "dir/données%20%E2%9C%93.bin", bytes)).status).toBe(201);
    expect((await put("both", "dir/données%20%E2%9C%93.bin", bytes)).status).toBe(204);
    expect(
      await run(
        "both",
        "const fs = require('fs'); const d = fs.readFileSync('dir/données ✓.bin'); fs.writeFileSync('b', d.toReversed()); console.log(d.length)",
        "js",
      ),
    ).toBe("256\n");
    const reversed = await get("both", "b");
    expect(new Uint8Array(await reversed.arrayBuffer())).toEqual(bytes.toReversed());
    expect(Object.fromEntries(reversed.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "content-length": "256",
    });
    const head = await sandbox.request("/v1/sessions/both/files/b", { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "256"]);
    const response = await sandbox.request("/v1/sessions/both/files");
    expect(await response.json()).toEqual({
      files: [
        { path: "b", size: 256, modified_at: expect.any(String) as string },
        { path: "dir/données ✓.bin", size: 256, modified_at: expect.any(String) as string },
      ],
      next_cursor: null,
    });
    expect((await remove("both", "b")).status).toBe(204);
    expect((await remove("both", "b")).status).toBe(404);
    expect(await run("both", "ls")).toBe("dir\n");
  });

  test("keep the changes of code: deletions, renames, links, modes", async () => {
    await put("keep", "a", "1");
    await put("keep", "gone/x", "1");
    await run(
      "keep",
      "mv a b; rm -r gone; ln -s b link; mkdir empty; echo 'echo run' > s; chmod 750 s",
    );
    expect(await list("keep")).toEqual(["b", "s"]);
    // Another file, so that the next runner has to be sent all of it.
    await put("keep", "c", "3");
    expect(await run("keep", "./s; cat link c; readlink link; ls -d empty; stat -c %a s")).toBe(
      "run\n13b\nempty\n750\n",
    );
  });

  test("have limits, for clients and for code", async () => {
    expect((await put("limits", "large", "x".repeat(10_001))).status).toBe(413);
    expect((await put("limits", "a", "x".repeat(9000))).status).toBe(201);
    expect((await put("limits", "b", "x".repeat(9000))).status).toBe(201);
    const full = await put("limits", "c", "x".repeat(9000));
    expect([full.status, ((await full.json()) as { code: string }).code]).toEqual([
      413,
      "workspace_full",
    ]);
    expect((await put("limits", "b", "y")).status).toBe(204);
    expect(await run("limits", "echo made; for i in $(seq 30); do touch f$i; done")).toBe(
      "made\nThe files that the code left were not kept: a workspace may have 20000 bytes in 20 files, links and directories.\n",
    );
    expect(await run("limits", "head -c 12000 a b > all; cat all all > twice; ls")).toMatch(
      /not kept/,
    );
    expect(await list("limits")).toEqual(["a", "b"]);
    expect(await run("limits", "ls | wc -l")).toBe("2\n");
  });

  test("are listed in pages, with a position that allows new files in between", async () => {
    for (const name of ["a", "dir/b", "c", "d e&f"]) await put("pages", name, name);
    const page = async (query: string): Promise<unknown> =>
      (await sandbox.request(`/v1/sessions/pages/files${query}`)).json();
    expect(await page("?limit=2")).toMatchObject({
      files: [{ path: "a" }, { path: "c" }],
      next_cursor: "c",
    });
    await remove("pages", "c");
    await put("pages", "ca", "new");
    expect(await page("?limit=2&cursor=c")).toMatchObject({
      files: [{ path: "ca" }, { path: "d e&f" }],
      next_cursor: "d e&f",
    });
    expect(await page("?limit=2&cursor=d%20e%26f")).toMatchObject({
      files: [{ path: "dir/b" }],
      next_cursor: null,
    });
    for (const query of ["?limit=0", "?limit=1001", "?limit=x", "?offset=1", "?limit=1&limit=2"])
      expect(await page(query)).toMatchObject({ status: 422, code: "invalid_query" });
  });

  test("are written while they arrive, and not at all when they do not arrive whole", async () => {
    async function* chunks(total: number): AsyncGenerator<Uint8Array, void, void> {
      for (let sent = 0; sent < total; sent += 100) yield new Uint8Array(100);
    }
    const send = (body: AsyncIterable<Uint8Array>): Promise<Response> =>
      sandbox.request("/v1/sessions/streamed/files/x", {
        method: "PUT",
        body: ReadableStream.from(body),
        duplex: "half",
      });
    expect((await send(chunks(10_000))).status).toBe(201);
    expect((await send(chunks(10_100))).status).toBe(413);
    async function* broken(): AsyncGenerator<Uint8Array, void, void> {
      yield new Uint8Array(10);
      throw new Error("gone");
    }
    await expect(send(broken())).rejects.toThrow();
    expect((await (await get("streamed", "x")).arrayBuffer()).byteLength).toBe(10_000);
  });

  test("are named in the result if code has written them", async () => {
    await put("named", "old", "1");
    const response = await sandbox.execute("named", [
      ["sh", "mkdir dir; echo 2 > dir/new; echo 3 > gone; ln -s old link; cat old"],
      ["sh", "rm gone; echo 4 > old"],
    ]);
    expect(await response.json()).toMatchObject({ exit_code: 0, files: ["dir/new", "old"] });
  });

  test("are not those of another session", async () => {
    await put("mine", "secret", "42");
    expect((await get("theirs", "secret")).status).toBe(404);
    expect(await run("theirs", "ls -a; cat ../../*/workspace/secret 2>/dev/null")).toBe(".\n..\n");
  });
});

test.each([
  ["GET", "../secret"],
  ["GET", "../../../../etc/passwd"],
  ["GET", "%2e%2e/%2e%2e/mine/files/secret"],
  ["GET", "..%2fsecret"],
  ["GET", "a%2f..%2f..%2fsecret"],
  ["GET", "..%5csecret"],
  ["GET", "..\\secret"],
  ["PUT", "..\\..\\secret"],
  ["PUT", "dir/%5c..%5c..%5cx"],
  ["GET", "%2fetc%2fpasswd"],
  ["PUT", "%2ftmp%2fintruder"],
  ["GET", "/etc/passwd"],
  ["PUT", "//tmp/intruder"],
  ["GET", "C:%5cWindows"],
  ["PUT", "%00"],
  ["GET", "a%00.txt"],
  ["PUT", "line%0abreak"],
  ["GET", "%ff%fe"],
  ["GET", "%c0%ae%c0%ae/secret"],
  ["GET", "%ed%a0%80"],
  ["GET", "%"],
  ["PUT", ""],
  ["PUT", "."],
  ["PUT", "dir/./x"],
  ["PUT", "dir//x"],
  ["PUT", "dir/"],
  ["DELETE", ".."],
  ["DELETE", "../../mine"],
  ["PUT", "x".repeat(256)],
  ["PUT", "%C3%A9".repeat(128)],
  ["PUT", `${"d/".repeat(600)}x`],
  ["PUT", `${"d/".repeat(40)}x`],
  ["GET", "%252e%252e%252fsecret"],
  ["GET", "link-to-passwd"],
  ["GET", "link-to-etc/passwd"],
  ["PUT", "link-to-tmp/intruder"],
  ["DELETE", "link-to-tmp/intruder"],
  ["GET", "loop/loop/x"],
  ["GET", "dir"],
  ["PUT", "dir"],
  ["DELETE", "dir"],
  ["PUT", "file/below"],
  ["GET", "pipe"],
  ["GET", "hard"],
])("%s %s finds nothing and changes nothing", async (method, path) => {
  if (!prepared) {
    await run(
      "attacked",
      "mkdir dir; echo x > dir/x; echo x > file; ln -s /etc/passwd link-to-passwd; ln -s /etc link-to-etc; ln -s /tmp link-to-tmp; ln -s . loop; mkfifo pipe; ln /etc/hostname hard 2>/dev/null",
    );
    prepared = true;
  }
  const { status, body } = await raw(method, `/v1/sessions/attacked/files/${path}`);
  expect([400, 404, 409, 422]).toContain(status);
  expect(JSON.parse(body)).toMatchObject({
    status,
    type: expect.stringMatching(/^urn:/) as string,
  });
  expect(await list("attacked")).toEqual(["dir/x", "file"]);
  expect(await list("mine")).toEqual(["secret"]);
});
let prepared = false;

test("links that code creates are followed by code only", async () => {
  await run("links", "ln -s /tmp out; ln -s file alias; echo 1 > file");
  for (const response of [
    await put("links", "out/x", "1"),
    await get("links", "out/x"),
    await get("links", "alias"),
    await remove("links", "out/x"),
  ])
    expect([response.status, await response.json()]).toMatchObject([422, { code: "is_a_link" }]);
  expect((await put("links", "alias", "2")).status).toBe(204);
  expect(await (await get("links", "file")).text()).toBe("1\n");
  expect(await run("links", "cat alias; test -L alias || echo a file")).toBe("2a file\n");
});

test("a deletion while code runs and files are written leaves nothing half done", async () => {
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all([
      put("race", "a/b", "x"),
      sandbox.execute("race", [["sh", "mkdir -p a; echo y > a/c"]]),
      remove("race", "a/b"),
      sandbox.request("/v1/sessions/race", { method: "DELETE" }),
      put("race", "a", "x"),
      list("race").then(() => new Response()),
    ]);
    for (const { status } of answers) expect([200, 201, 204, 404, 409]).toContain(status);
    for (const path of await list("race")) expect((await get("race", path)).status).toBe(200);
  }
});
