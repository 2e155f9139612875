import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { ROOT } from "../../support/npm-start.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the tarball that `npm pack` made of this clone. */
    tarball: string;
  }
}

const PARTS = [
  "src",
  "scripts",
  "template",
  "package.json",
  "tsconfig.base.json",
  "tsconfig.node.json",
  "tsconfig.src.json",
  "tsconfig.package.json",
  "tsconfig.package-cli.json",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
];

/** Packs a copy of the clone before the first test: while npm packs, package.json is another, which other tests must not see. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "troupe-pack-"));
  const copy = join(folder, "clone");
  for (const part of PARTS) await cp(join(ROOT, part), join(copy, part), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const options = ["--json", "--loglevel=error", "--pack-destination", folder];
  const { stdout } = await promisify(execFile)("npm", ["pack", ...options], {
    cwd: copy,
    maxBuffer: 10_000_000,
  });
  const name = /"filename": "(.+\.tgz)"/.exec(stdout)?.[1];
  if (name === undefined) throw new Error(`npm pack names no file: ${stdout}`);
  project.provide("tarball", join(folder, name));
  return () => rm(folder, { recursive: true, force: true });
}
