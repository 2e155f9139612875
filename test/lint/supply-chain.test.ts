import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";

/** The project's own, and those of the projects that `troupe init` makes. */
const WORKFLOWS = [".github/workflows", "template/_github/workflows"].flatMap((folder) =>
  readdirSync(join(ROOT, folder)).map((file) => join(folder, file)),
);
const LOCK_FILES = [
  "package-lock.json",
  "bench/peers/package-lock.json",
  "examples/approval-web-app/package-lock.json",
  "examples/copilotkit/page/package-lock.json",
  "scripts/api/package-lock.json",
  "scripts/reference/package-lock.json",
  "test/mcp-conformance/suite/package-lock.json",
  "test/peers/package-lock.json",
];

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

describe.each(WORKFLOWS)("the workflow %s", (file) => {
  const text = read(file);
  const steps = text.split(/\n(?= {6}- )/);

  test("names actions by commits, with their versions", () => {
    const used = [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action);
    expect(used).not.toEqual([]);
    for (const action of used)
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("leaves no credentials in the checkout, and may read only", () => {
    const checkouts = steps.filter((step) => step.includes("actions/checkout@"));
    expect(checkouts).not.toEqual([]);
    for (const step of checkouts) expect(step).toContain("persist-credentials: false");
    expect(text).toMatch(/^permissions:\n {2}contents: read\n/m);
    expect(text).not.toMatch(/: write-all|contents: write/);
  });
});

test.each(LOCK_FILES)("%s has a hash of each package that is installed", (file) => {
  interface Entry {
    link?: boolean;
    inBundle?: boolean;
    integrity?: string;
  }
  const { packages } = JSON.parse(read(file)) as { packages: { [path: string]: Entry } };
  const unchecked = Object.entries(packages)
    .filter(([path]) => path.includes("node_modules/"))
    .filter(([, { link, inBundle, integrity }]) => !link && !inBundle && integrity === undefined);
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

test("packages are published with provenance", () => {
  const published = [...read(".github/workflows/release.yml").matchAll(/npm publish (.*)/g)];
  expect(published).toHaveLength(2);
  for (const [, options] of published) expect(options).toContain("--provenance");
});

test("the image's base is named by its digest, with the source of the digest", () => {
  const dockerfile = read("sandbox/Dockerfile");
  const bases = [...dockerfile.matchAll(/^FROM (.*)$/gm)].map(([, base]) => base);
  expect(bases).toEqual([expect.stringMatching(/^node:[\d.]+-slim@sha256:[0-9a-f]{64}$/)]);
  const source = /https:\/\/github\.com\/docker-library\/repo-info\/blob\/[0-9a-f]{40}\/\S+/;
  const [named] = source.exec(dockerfile) ?? [];
  expect(named).toBeDefined();
  expect(read("docs/sandbox.md")).toContain(named);
});
