import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { rowsOf } from "../support/samples.ts";
import { Project } from "./support/project.ts";

// Projects made with npm from the registry.

const tarball = inject("tarball");
const resolutions = ["bundler", "nodenext"] as const;

// The oldest Node of the engines, and another.
test.each(["22.12.0", ...rowsOf("Node", ["22.23.3", "24.21.0", "26.10.0"])])(
  "a package that npm installs in a project for Node %s compiles, and a team runs",
  async (version) => {
    const types = `@types/node@${version.split(".")[0]}`;
    await using project = await Project.installed(tarball, `node@${version}`, types);
    await project.copy("projects/team.js", "projects/library.ts");
    expect(await project.run("node_modules/.bin/node", ["team.js"])).toBe(`v${version}`);
    const init = ["node_modules/troupe/lib/cli/bin.js", "init", "new-team", "--no-install"];
    expect(await project.run("node_modules/.bin/node", init)).toContain("cd new-team");
    for (const resolution of resolutions) {
      const found = await project.complaints(["library.ts"], { resolution, types: ["node"] });
      expect(found).toEqual([]);
    }
  },
);

describe("yarn 1, which refuses packages whose engines exclude the Node it runs in", () => {
  async function install(project: Project, version: string): Promise<string> {
    await using tools = await Project.installed("yarn@1.22.22", `node@${version}`);
    const modules = join(tools.folder, "node_modules");
    const yarn = [join(modules, "yarn/bin/yarn.js"), "add", `file:${tarball}`, "--no-lockfile"];
    const node = join(modules, ".bin/node");
    await project.run(node, [...yarn, "--cache-folder", join(tools.folder, "cache")]);
    return await project.run(node, ["team.js"]);
  }

  test("installs the package in the oldest Node of its engines, and a team runs", async () => {
    await using project = await Project.empty();
    await project.copy("projects/team.js");
    expect(await install(project, "22.12.0")).toBe("v22.12.0");
  });

  test("names the engines in Node 20", async () => {
    await using project = await Project.empty();
    await expect(install(project, "20.20.2")).rejects.toThrow(
      'The engine "node" is incompatible with this module. Expected version ">=22',
    );
  });
});

/** Hands the bindings to the service with the types that wrangler has written of them. */
const MAIN = `import troupe from "troupe/worker";
export { TeamObject, TenantObject } from "troupe/worker";
export default {
  fetch: (request, env) => troupe.fetch(request, env),
} satisfies ExportedHandler<Cloudflare.Env>;
`;

// The oldest that docs/versions.md promises.
test("the package compiles with TypeScript 5.7", async () => {
  const packages = ["typescript@5.7.3", "@types/node@24", "@cloudflare/workers-types@5.20261026.1"];
  await using project = await Project.installed(tarball, ...packages);
  await project.copy("projects/library.ts", "worker/worker.ts");
  for (const resolution of resolutions) {
    const node = await project.complaints(["library.ts"], { resolution, types: ["node"] });
    expect(node).toEqual([]);
    const options = { resolution, types: ["@cloudflare/workers-types"] };
    expect(await project.complaints(["worker.ts"], options)).toEqual([]);
  }
});

test("a Worker compiles with the types that wrangler writes", async () => {
  await using project = await Project.installed(tarball);
  await project.copy("worker/worker.ts", "worker/wrangler.toml");
  await project.write("main.ts", MAIN);
  await project.run("wrangler", ["types"]);
  const files = ["worker.ts", "main.ts", "worker-configuration.d.ts"];
  // What wrangler writes does not itself compile with nodenext.
  const found = await project.complaints(files, { resolution: "bundler", types: [] });
  expect(found).toEqual([]);
});

test("vite bundles the client for browsers, and the bundle calls the API", async () => {
  await using project = await Project.installed(tarball, "vite@8.3.8");
  await project.copy("projects/page.ts");
  await project.write("index.html", '<script type="module" src="page.ts"></script>\n');
  await project.run("vite", ["build"]);
  const assets = join(project.folder, "dist/assets");
  const [script = "", ...more] = await readdir(assets);
  expect(more).toEqual([]);
  const code = await readFile(join(assets, script), "utf8");
  expect(code).not.toContain("node:");
  // In the place of a browser: a page has the same globals as far as the client uses them.
  await project.write(
    "browser.mjs",
    `globalThis.fetch = async (request, init) => {
  const { method, url } = new Request(request, init);
  return Response.json({ id: method + " " + url }, { status: 201 });
};
globalThis.document = { createElement: () => ({}), querySelectorAll: () => [] };
globalThis.MutationObserver = class { observe() {} };
await import("./dist/assets/${script}");
process.stdout.write(globalThis.team);
`,
  );
  expect(await project.run(process.execPath, ["browser.mjs"])).toBe(
    "POST https://troupe.test/v1/teams",
  );
});
