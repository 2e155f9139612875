import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { expect, inject, onTestFinished, test } from "vitest";
import { Project } from "./support/project.ts";
import { keepMiniflarePrivate } from "../support/private-miniflare.ts";

const tarball = inject("tarball");

test("plain wrangler bundles a Worker, which runs teams and counts tokens", async () => {
  await using project = await Project.linked(tarball);
  await project.copy("worker/worker.ts", "worker/wrangler.toml");
  await project.run("wrangler", ["deploy", "--dry-run", "--outdir", "out"]);
  const out = join(project.folder, "out");
  const names = await readdir(out);
  const tables = names.filter((name) => name.endsWith(".bin"));
  expect(tables.map((name) => name.replace(/^\w+-/, "")).toSorted()).toEqual([
    "cl100k_base.bin",
    "o200k_base.bin",
  ]);
  const script = await readFile(join(out, "worker.js"), "utf8");
  // Loaded when they are used, not when the Worker starts.
  for (const table of tables) expect(script).toContain(`import("./${table}")`);
  expect(script).not.toMatch(/^import .*\.bin"/m);

  keepMiniflarePrivate();
  const worker = new Miniflare(
    convertV4MiniflareOptions({
      name: "own-worker",
      compatibilityDate: "2026-09-18",
      modules: [
        { type: "ESModule", path: "worker.js", contents: script },
        ...(await Promise.all(
          tables.map(async (path) => ({
            type: "Data" as const,
            path,
            contents: await readFile(join(out, path)),
          })),
        )),
      ],
      durableObjects: {
        TEAM: { className: "TeamObject", useSQLite: true },
        TENANT: { className: "TenantObject", useSQLite: true },
      },
      bindings: { TROUPE_OPEN: "1" },
    }),
  );
  onTestFinished(() => worker.dispose());
  const origin = await worker.ready;
  const post = async (path: string, body: string): Promise<unknown> => {
    const response = await fetch(new URL(path, origin), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return response.json();
  };
  expect(await post("/tokens", "hello world")).toBe(11);
  expect(await post("/agents/v1/teams", '{"template":"guide","id":"tour"}')).toMatchObject({
    id: "tour",
  });
  expect(await post("/agents/v1/teams/tour/runs?wait=60", '{"task":"Hello."}')).toMatchObject({
    status: "completed",
    result: { messages: [{ content: "Hello." }, { content: "Ten to six." }] },
  });
});

test("a Worker of one's own serves the console of the package", async () => {
  await using project = await Project.linked(tarball);
  await project.copy("worker/console/console-worker.ts", "worker/console/wrangler.toml");
  await project.run("wrangler", ["deploy", "--dry-run", "--outdir", "out"]);
  const out = join(project.folder, "out");
  const modules = (await readdir(out)).filter((name) => /\.(js|bin)$/.test(name));
  keepMiniflarePrivate();
  const worker = new Miniflare(
    convertV4MiniflareOptions({
      name: "console-worker",
      compatibilityDate: "2026-09-18",
      modules: await Promise.all(
        modules
          .toSorted((one) => (one === "console-worker.js" ? -1 : 1))
          .map(async (path) => ({
            type: path.endsWith(".js") ? ("ESModule" as const) : ("Data" as const),
            path,
            contents: await readFile(join(out, path)),
          })),
      ),
      durableObjects: {
        TEAM: { className: "TeamObject", useSQLite: true },
        TENANT: { className: "TenantObject", useSQLite: true },
      },
      bindings: { TROUPE_OPEN: "1" },
      assets: {
        directory: join(project.folder, "node_modules/troupe/console/public"),
        binding: "CONSOLE_FILES",
        run_worker_first: true,
        routerConfig: { has_user_worker: true },
      },
    }),
  );
  onTestFinished(() => worker.dispose());
  const origin = await worker.ready;
  // `fetch` does not let headers say that it is a navigation.
  const request = get(origin, { headers: { accept: "text/html" } });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
  const page = await text(answer);
  const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/gi)].map(([, path = ""]) => path);
  expect(files).toContainEqual(expect.stringMatching(/^\/assets\/main-[\w-]+\.js$/));
  for (const path of files) {
    const response = await fetch(new URL(path, origin));
    expect([path, response.status]).toEqual([path, 200]);
    await response.arrayBuffer();
  }
});

test("plain esbuild bundles a team for Node, which runs", async () => {
  await using project = await Project.linked(tarball);
  await project.copy("projects/team.js");
  await build({
    absWorkingDir: project.folder,
    entryPoints: ["team.js"],
    outfile: "bundle.mjs",
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
  });
  await rename(join(project.folder, "node_modules"), join(project.folder, "gone"));
  expect(await project.run(process.execPath, ["bundle.mjs"])).toBe(process.version);
});

test("plain esbuild bundles the library for browsers, and drops unused parts", async () => {
  await using project = await Project.linked(tarball);
  const sizeOf = async (code: string): Promise<number> => {
    const { outputFiles } = await build({
      stdin: { contents: code, resolveDir: project.folder },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "error",
    });
    return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
  };
  expect(await sizeOf('import "troupe"; import "troupe/schemas"; import "troupe/client";')).toBe(
    20,
  );
  expect(await sizeOf('export { TroupeClient } from "troupe/client";')).toBeLessThan(8_000);
  expect(await sizeOf('export * from "troupe/client";')).toBeLessThan(11_000);
  expect(await sizeOf('export { TroupeError } from "troupe";')).toBeLessThan(5_000);
  expect(await sizeOf('export * from "troupe";')).toBeGreaterThan(100_000);
});
