import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { siteLink } from "../../scripts/site/links.mjs";
import { writeOperations } from "../../scripts/site/openapi.mjs";
import { sectionsOf } from "../../scripts/site/sections.mjs";
import { testApp } from "../support/http-app.ts";

const REPOSITORY = "https://github.com/owner/name";

test.each([
  ["README.md", "docs/keys.md#scopes", "/keys#scopes"],
  ["docs/keys.md", "../README.md", "/"],
  ["docs/keys.md", "README.md", "/documentation"],
  ["docs/teams/swarm.md", "README.md", "/teams/"],
  ["docs/keys.md", "teams/", "/teams/"],
  ["docs/keys.md", "design/engine.md", "/design/engine"],
  ["docs/keys.md", "#scopes", "#scopes"],
  ["docs/keys.md", "https://example.com/a.md", "https://example.com/a.md"],
  ["docs/keys.md", "../src/index.ts", `${REPOSITORY}/blob/main/src/index.ts`],
])("the link of %s to %s leads to %s", (source, href, address) => {
  expect(siteLink(source, href, REPOSITORY)).toBe(address);
});

test("a file that is not a page has no link without the address of the repository", () => {
  expect(siteLink("docs/keys.md", "../src/index.ts", undefined)).toBeUndefined();
});

test("the sidebar has the sections of the documentation, and each page once", () => {
  const sections = sectionsOf(join(import.meta.dirname, "../../docs/README.md"));
  expect(sections.map(({ text }) => text)).toContain("Use a team");
  const links = sections.flatMap(({ items }) => items.map(({ link }) => link));
  expect(links).toContain("/http-api");
  expect(new Set(links).size).toBe(links.length);
});

test("each operation of the HTTP API is on the page of its tag, with its parameters and answers", async () => {
  const directory = mkdtempSync(join(tmpdir(), "operations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const document = (await (await testApp().fetch("/v1/openapi.json")).json()) as {
    paths: Record<string, object>;
  };
  writeOperations(document, directory);
  const pages = readdirSync(directory).map((file) => readFileSync(join(directory, file), "utf8"));
  const written = pages.join("\n");
  for (const path of Object.keys(document.paths)) expect(written).toContain(`${path}\``);
  const runs = pages.find((page) => page.startsWith("# Runs\n"));
  expect(runs).toContain("`POST /v1/teams/{team}/runs`");
  expect(runs).toMatch(/\| `team` \(required\) \| string \|/);
  expect(runs).toMatch(/\| `task` \|/);
  expect(runs).toMatch(/\| `404` \| Problem \|/);
});
