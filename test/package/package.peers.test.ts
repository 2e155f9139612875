import { access, readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { checkPackage, createPackageFromTarballData, publint } from "../peers/packaging.ts";
import { ROOT } from "../support/npm-start.ts";
import { Project } from "./support/project.ts";

const tarball = inject("tarball");
let project: Project;
let folder: string;

beforeAll(async () => {
  project = await Project.linked(tarball);
  folder = join(project.folder, "node_modules/troupe");
});

afterAll(() => project[Symbol.asyncDispose]());

/** What the tests read of the published package.json. */
interface Manifest {
  [field: string]: unknown;
  exports: Record<string, string | { types: string; default: string }>;
}

async function manifestOf(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as Manifest;
}

/** Files of the package whose names match. */
async function files(pattern: RegExp): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

test("the package has the files that users need, and nothing of the clone", async () => {
  expect((await readdir(folder)).toSorted()).toEqual(
    [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "console",
      "docs",
      "lib",
      "package.json",
      "self-hosting",
      "src",
      "template",
    ].toSorted(),
  );
  const manifest = await manifestOf(folder);
  for (const field of ["private", "scripts", "devDependencies", "workspaces", "allowScripts"]) {
    expect(manifest).not.toHaveProperty(field);
  }
  const unwanted = await files(/\.(test\.ts|py|tsbuildinfo)$/);
  expect(unwanted.map((file) => relative(folder, file))).toEqual(["template/test/team.test.ts"]);
});

test("the package names the repository that publishes it, and its README links there", async () => {
  const url = "https://github.com/example/troupe";
  const manifest = await manifestOf(folder);
  expect(manifest).toMatchObject({
    repository: { type: "git", url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    keywords: expect.arrayContaining(["agents", "cloudflare-workers"]),
  });
  const readme = await readFile(join(folder, "README.md"), "utf8");
  const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, link = ""]) => link);
  const ours = links.filter((link) => link.startsWith(url));
  expect(ours.length).toBeGreaterThan(30);
  expect(links.filter((link) => !/^(https?:|#)/.test(link))).toEqual([]);
  for (const link of ours) {
    const { pathname } = new URL(link);
    const path = /^\/example\/troupe\/(?:blob|raw)\/v[\d.]+\/(.+)$/.exec(pathname)?.[1];
    await expect(access(join(ROOT, path ?? link)), link).resolves.toBeUndefined();
  }
  expect(await readFile(join(ROOT, "README.md"), "utf8")).toContain("](docs/console.md)");
});

test("the package has all entries of the clone, as JavaScript with types", async () => {
  const own = await manifestOf(ROOT);
  const { exports } = await manifestOf(folder);
  expect(Object.keys(exports)).toEqual(Object.keys(own.exports));
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : [target.types, target.default],
  );
  for (const target of targets) {
    expect(target).toMatch(/\.(js|d\.ts|json)$/);
    await readFile(join(folder, target));
  }
});

test("maps lead from modules and declarations to the sources", async () => {
  const maps = await files(/\.map$/);
  expect(maps.length).toBeGreaterThan(100);
  for (const map of maps) {
    const { sources } = JSON.parse(await readFile(map, "utf8")) as { sources: string[] };
    for (const source of sources) await readFile(join(dirname(map), source));
  }
});

test("declarations import JavaScript and declared packages, and the client's and the schemas' not the library", async () => {
  for (const file of await files(/\.d\.ts$/)) {
    expect(await readFile(file, "utf8"), file).not.toMatch(/(from |import\(?)"[^"]*\.tsx?"/);
  }
  const contract = (await files(/\.d\.ts$/)).filter((file) =>
    /lib\/(contract|client|schemas)\//.test(file),
  );
  expect(contract.length).toBeGreaterThan(20);
  for (const file of contract) {
    expect(await readFile(file, "utf8"), file).not.toMatch(/"\.\.\/(\.\.\/)*index\.js"/);
  }
});

test("publint reports nothing", async () => {
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test("the types pass are-the-types-wrong", async () => {
  const analysis = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
  if (analysis.types === false) throw new Error("it has no types");
  // An ES module package: what resolves like CommonJS cannot use it.
  const problems = analysis.problems.filter(
    (problem) =>
      problem.kind !== "CJSResolvesToESM" &&
      !("resolutionKind" in problem && ["node10", "node16-cjs"].includes(problem.resolutionKind)),
  );
  expect(problems).toEqual([]);
  expect(Object.keys(analysis.entrypoints)).toContain("./schemas");
});

test("a team runs in Node, without a compiler", async () => {
  await project.copy("projects/team.js");
  expect(await project.run(process.execPath, ["team.js"])).toBe(process.version);
});

test("the command line makes a project", async () => {
  const program = "node_modules/troupe/lib/cli/bin.js";
  const args = [program, "init", "new-team", "--no-install"];
  expect(await project.run(process.execPath, args)).toContain("cd new-team");
  const { dependencies } = await manifestOf(join(project.folder, "new-team"));
  expect(dependencies).toMatchObject({ troupe: (await manifestOf(ROOT))["version"] });
});

const resolutions = ["bundler", "nodenext"] as const;

test.each(resolutions)("programs with the module resolution %s compile", async (resolution) => {
  await using typed = await Project.linked(tarball, ["@types/node"]);
  await typed.copy("projects/library.ts", "projects/page.ts");
  const node = await typed.complaints(["library.ts"], { resolution, types: ["node"] });
  expect(node).toEqual([]);
  const lib = ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"];
  const browser = await typed.complaints(["page.ts"], { resolution, types: [], lib });
  expect(browser).toEqual([]);
});

test("the declarations lead to no package whose declarations need the types of Node", async () => {
  await using typed = await Project.linked(tarball);
  await typed.copy("projects/library.ts");
  const lib = ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"];
  const options = { resolution: "bundler", types: [], lib } as const;
  expect(await typed.allComplaints(["library.ts"], options)).toEqual([]);
});

test("a Worker compiles with the types of its runtime", async () => {
  await using typed = await Project.linked(tarball, ["@cloudflare/workers-types"]);
  await typed.copy("worker/worker.ts");
  const types = ["@cloudflare/workers-types"];
  const found = await typed.complaints(["worker.ts"], { resolution: "bundler", types });
  expect(found).toEqual([]);
});
