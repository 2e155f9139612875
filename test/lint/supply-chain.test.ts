import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";

const WORKFLOWS = join(ROOT, ".github/workflows");

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

describe.each(readdirSync(WORKFLOWS))("the workflow %s", (file) => {
  const text = read(join(".github/workflows", file));
  const steps = text.split(/\n(?= {6}- )/);

  test("names actions by commits, and says which versions they are", () => {
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
