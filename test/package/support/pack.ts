import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { packCopy } from "../../../scripts/package/pack-copy.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the tarball that `npm pack` made of this clone. */
    tarball: string;
  }
}

/** Packs the clone before the first test. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "troupe-pack-"));
  const { tarball } = await packCopy(folder, { GITHUB_REPOSITORY: "example/troupe" });
  project.provide("tarball", tarball);
  return () => rm(folder, { recursive: true, force: true });
}
